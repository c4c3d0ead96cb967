"""Make ``graphctx/export/assets/d3.min.js``: the few modules of D3 that the exported page uses, in one script.

Needs npm and its registry, and nothing of graphctx. Every package is pinned by version and by the integrity that npm
tells of it; the same pins give the same bytes.

    python tools/build_d3.py           write the script and its licences
    python tools/build_d3.py --check   only compare what would be written with what is there
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ASSETS = Path(__file__).resolve().parents[1] / "graphctx" / "export" / "assets"
SCRIPT, LICENCES = "d3.min.js", "LICENSE.d3.txt"

EXPORTED = """
export { hierarchy, pack } from "d3-hierarchy";
export { select } from "d3-selection";
export { zoom, zoomIdentity } from "d3-zoom";
import "d3-transition";
"""

PACKAGES = {  # the direct ones and all that they need, with the Subresource Integrity of their archives
    "d3-color": (
        "3.1.1",
        "sha512-lfab8x0Bj0UO7SNsY8dZSbNIA6ipbkE3X0NG9nqjCu6CfCHZseuDnOSJY7hidKrjpP++i1M2qT+FlAdPKYRilA==",
    ),
    "d3-dispatch": (
        "3.0.2",
        "sha512-sAzH4Y4nsLo8eSqw5jKiZt+LU2wZmL/qS+OkxQGjhwazB/D7TY34R/QK1eshfGr7cZEKymKZ/Haem7m+lu98Sg==",
    ),
    "d3-drag": (
        "3.0.1",
        "sha512-OWeoayCq8J69hUIjvL+Mb6Q6Oaj/fyHV5XaXByEUAG+JUjIfTGDnk3qGpcXrD3VmQ3BSV96fcbM6fqq7C0tbPA==",
    ),
    "d3-ease": (
        "3.0.2",
        "sha512-B5znKqRmKROAN4oHWQ50W/qisVjA9GXh2WMsVKdFVp4DxWmcrOsweqgUOUVsv5th96kwaZlokU6SlV4J3gak1w==",
    ),
    "d3-hierarchy": (
        "3.1.3",
        "sha512-GRajN5ZcnEwYFWqqdzhG1qJ3+fDg6WWzk47TJg7ePY7yvYAgRfD2r1mUx+wviBOWuCwamCUzjwMSdato43jbGA==",
    ),
    "d3-interpolate": (
        "3.0.2",
        "sha512-IRzGU62DtxhvsnSTWMQIdnoZ6gA+BCWwBon1EJI6SjoN595799b6z/QRBzXfFhE8iupUPp3042yBNo0STPqnzQ==",
    ),
    "d3-selection": (
        "3.0.1",
        "sha512-ODSf35vqCrlCfp7hrm0eZjvOosSXSYLjqvIlhMBV9q9VOx7EBJG6pc+uXBswEZNJgCGJ+qnKYcWutbZDIxe/Xg==",
    ),
    "d3-timer": (
        "3.0.2",
        "sha512-1Il1aliroVSErrv5aulRBxAY+7+DnaoLIWGd1C6SsBTWDeobWiP/V69vwb8vT6abR1kKwaNe1196pmaQ1fK90A==",
    ),
    "d3-transition": (
        "3.0.2",
        "sha512-RcjCsdFgyFoDB+QXLC5m60ZkTN0k9zH+ovoLlTdJnDS1AbfbcuowiM4pCKSTOclNibS4f4J4cbv2m7O7y8NTOQ==",
    ),
    "d3-zoom": (
        "3.0.1",
        "sha512-kfjD3BDQu/FOatpZ6JdMSyIoDwTxIpI29ySTI2J5ZlDaH1WbuJGQJ2Q9oJkWTEZEW98j6idezoomSD3Cn2zwiw==",
    ),
}
ESBUILD = "0.28.2"
"""What bundles and minifies; no part of it is in the result."""

SHA256 = "49d9f92e9cbe77beb1058ffb1e39fe28865a056b2086e0d567986b3e6d0c26ee"
"""Of the script that all of this gives."""


def main() -> int:
    """Build, then write or compare; 1 where a comparison fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        made = _made(Path(folder))
    for name, content in made.items():
        path, digest = ASSETS / name, hashlib.sha256(content).hexdigest()
        same = path.is_file() and path.read_bytes() == content
        print(f"{digest}  {name}  {len(content):,} bytes{'' if same or not check else '  DIFFERS'}")
        if check and not same:
            return 1
        if not check:
            path.write_bytes(content)
    return 0


def _made(folder: Path) -> dict[str, bytes]:
    (folder / "package.json").write_text("{}")
    (folder / "entry.js").write_text(EXPORTED)
    wanted = [f"{name}@{version}" for name, (version, _) in PACKAGES.items()]
    _run(folder, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", *wanted, f"esbuild@{ESBUILD}")
    installed = json.loads((folder / "node_modules" / ".package-lock.json").read_text())["packages"]
    for name, (version, integrity) in PACKAGES.items():
        found = installed[f"node_modules/{name}"]
        if (found["version"], found["integrity"]) != (version, integrity):
            raise SystemExit(f"{name} is not what it was: {found['version']} {found['integrity']}")
    licences = _licences(folder)
    (folder / "out").mkdir()
    _run(
        folder,
        "node_modules/.bin/esbuild",
        "entry.js",
        "--bundle",
        "--minify",
        "--format=iife",
        "--global-name=d3",
        "--target=es2020",
        "--charset=utf8",
        "--legal-comments=none",
        f"--banner:js=/*!\n{licences}*/",
        f"--outfile=out/{SCRIPT}",
    )
    script = (folder / "out" / SCRIPT).read_bytes()
    if hashlib.sha256(script).hexdigest() != SHA256:
        print(f"not the script that SHA256 names: {hashlib.sha256(script).hexdigest()}", file=sys.stderr)
    return {SCRIPT: script, LICENCES: licences.encode()}


def _licences(folder: Path) -> str:
    """The licence of each package, equal ones once."""
    by_text: dict[str, list[str]] = {}
    for name, (version, _) in sorted(PACKAGES.items()):
        text = (folder / "node_modules" / name / "LICENSE").read_text("utf-8").strip()
        by_text.setdefault(text, []).append(f"{name} {version}")
    return "\n".join(f"{', '.join(names)}\n\n{text}\n" for text, names in by_text.items())


def _run(folder: Path, *command: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    sys.exit(main())
