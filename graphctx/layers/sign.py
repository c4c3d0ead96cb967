"""Ed25519 signatures of layer files, detached (RFC section 13).

A signature is the 64 bytes of RFC 8032 over the file's bytes, in ``<file>.sig``; keys are PEM files. Any tool that
knows Ed25519 can make and check them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.layers.reader import LayerFile, map_file
from graphctx.store.files import write_atomic

SUFFIX = ".sig"
_SIZE = 64  # RFC 8032, section 5.1.6
_PRIVATE = "an Ed25519 private key as PEM, without a password"
_PUBLIC = "an Ed25519 public key as PEM"


def make_key(private: Path | str, public: Path | str) -> None:
    """Make a pair of keys; the private one can be read by its owner alone.

    Raises:
        InvalidArgument: one of the files is there already.
    """
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    for path in (Path(private), Path(public)):
        if path.exists():
            raise InvalidArgument(f"{path.name} is there already; keys are not replaced.", file=path.name)
    key = Ed25519PrivateKey.generate()
    secret = key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption())
    Path(private).touch(mode=0o600)
    with Path(private).open("r+b") as file:
        file.write(secret)
    write_atomic(Path(public), key.public_key().public_bytes(s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo))


def sign(layer: Path | str, private: Path | str, signature: Path | str | None = None) -> Path:
    """Sign a valid layer file; return the signature's file, ``<file>.sig`` by default.

    Raises:
        InvalidArgument: the layer breaks a rule of the format, or the key is not an Ed25519 private key.
        BackendUnavailable: a file cannot be read.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    key = _pem(Path(private), lambda pem: load_pem_private_key(pem, None), _PRIVATE)
    if not isinstance(key, Ed25519PrivateKey):
        raise _no_key(Path(private), _PRIVATE)
    with LayerFile.open(layer) as file:
        made = key.sign(bytes(file.data))
    target = Path(signature) if signature is not None else Path(f"{layer}{SUFFIX}")
    write_atomic(target, made)
    return target


def verify(layer: Path | str, public: Path | str, signature: Path | str | None = None) -> bool:
    """Whether a signature is of this file, as it is, by the owner of this key.

    Raises:
        InvalidArgument: the key is not an Ed25519 public key.
        BackendUnavailable: a file cannot be read.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    key = _pem(Path(public), load_pem_public_key, _PUBLIC)
    if not isinstance(key, Ed25519PublicKey):
        raise _no_key(Path(public), _PUBLIC)
    data = bytes(map_file(Path(layer)))
    signature_bytes = bytes(map_file(Path(signature) if signature is not None else Path(f"{layer}{SUFFIX}")))
    if len(signature_bytes) != _SIZE:
        return False
    try:
        key.verify(signature_bytes, data)
    except InvalidSignature:
        return False
    return True


def _pem(path: Path, load: Callable[[bytes], object], wanted: str) -> object:
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        return load(path.read_bytes())
    except OSError as error:
        raise BackendUnavailable(f"The key {path.name} cannot be read: {error.strerror}.", file=path.name) from error
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise _no_key(path, wanted) from None


def _no_key(path: Path, wanted: str) -> InvalidArgument:
    return InvalidArgument(
        f"{path.name} is not {wanted}; `graphctx layers key` makes both halves of one.", file=path.name
    )
