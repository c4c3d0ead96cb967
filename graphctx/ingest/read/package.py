"""ZIP packages of Office Open XML and EPUB: checks before they are unpacked, and their properties."""

from __future__ import annotations

import io
import re
import zipfile

from graphctx.errors import InvalidArgument
from graphctx.ingest.read.base import Metadata, iso_date
from graphctx.text.normalise import normalise

MAX_UNPACKED_BYTES = 512 * 1024 * 1024
"""A document that unpacks to more is taken for a decompression bomb."""

MAX_XML_BYTES = 64 * 1024 * 1024
"""The same for one of its XML parts, which is held in memory as a tree many times its size."""

MAX_XML_RATIO, MIN_BOMB_BYTES = 100, 2 * 1024 * 1024
"""XML that unpacks to so many times its packed size, and to this at least, repeats itself as no author does: what
people write unpacks to ten or twenty times its size."""

_OLE_MAGIC = b"\xd0\xcf\x11\xe0"
_PROPERTIES = "docProps/core.xml"
_TITLE = re.compile(r"<dc:title[^<>]*>([^<]{1,500})</dc:title>")
_MODIFIED = re.compile(r"<dcterms:modified[^<>]*>([^<]{1,40})</dcterms:modified>")
_TEMPLATE_TITLES = frozenset(("word document", "document", "untitled", "powerpoint presentation", "presentation"))


def check_package(data: bytes, uri: str, what: str) -> Metadata:
    """Refuse other files and decompression bombs before anything is unpacked.

    Args:
        data: the file.
        uri: of the file, for errors.
        what: the kind of file, for errors: "a Word document".

    Returns:
        The title and the date of the package's properties.

    Raises:
        InvalidArgument: the file is encrypted, damaged, of another kind, or unpacks to more than is safe.
    """
    if data.startswith(_OLE_MAGIC):
        raise InvalidArgument(
            f"{uri} is encrypted or in an old format of Office. Save it in the present one, without a password.",
            uri=uri,
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            parts = package.infolist()
            unpacked = sum(part.file_size for part in parts)
            if unpacked > MAX_UNPACKED_BYTES or any(_is_bomb(part) and _is_xml(package, part) for part in parts):
                raise InvalidArgument(
                    f"{uri} would unpack to {unpacked} bytes, more than is safe.", uri=uri, unpacked_bytes=unpacked
                )
            names = {part.filename for part in parts}
            properties = package.read(_PROPERTIES).decode("utf-8", "replace") if _PROPERTIES in names else ""
    except InvalidArgument:
        raise
    except Exception as error:  # bad headers, bad checksums, unknown compression, truncation
        raise InvalidArgument(f"{uri} is damaged or not {what}: its ZIP is bad.", uri=uri) from error
    return _metadata(properties)


def _is_bomb(part: zipfile.ZipInfo) -> bool:
    """Whether a part exceeds what the reader of XML may unpack."""
    repeats = part.file_size > MIN_BOMB_BYTES and part.file_size > MAX_XML_RATIO * part.compress_size
    return repeats or part.file_size > MAX_XML_BYTES


def _is_xml(package: zipfile.ZipFile, part: zipfile.ZipInfo) -> bool:
    """Whether a part may be read as XML, whatever its name and its declared type: a relation alone makes it so."""
    with package.open(part) as stream:
        start = stream.read(64).lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n")
    return start[:1] in (b"<", b"")


def _metadata(properties: str) -> Metadata:
    from html import unescape

    title, modified = _TITLE.search(properties), _MODIFIED.search(properties)
    name = " ".join(normalise(unescape(title.group(1))).split()) if title else ""
    return Metadata(
        "" if name.lower() in _TEMPLATE_TITLES else name,
        (),
        iso_date(modified.group(1)) if modified else None,
    )
