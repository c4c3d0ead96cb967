"""Word documents: converted to HTML, then read as HTML."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, ClassVar

from graphctx.errors import InvalidArgument
from graphctx.ingest.read.base import ReadFile, make_document
from graphctx.ingest.read.html import parse_html
from graphctx.ingest.read.package import check_package
from graphctx.text.normalise import normalise

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='Code'] => pre:separator('\\n')
p[style-name='Source Code'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
p[style-name='macro'] => pre:separator('\\n')
p[style-name='List Bullet'] => ul > li:fresh
p[style-name='List Bullet 2'] => ul > li > ul > li:fresh
p[style-name='List Number'] => ol > li:fresh
r[style-name='Code'] => code
r[style-name='Source Text'] => code
r[style-name='HTML Code'] => code
"""


class DocxReader:
    """Office Open XML text documents."""

    media_types: ClassVar[Mapping[str, str]] = {".docx": MEDIA_TYPE}
    version: ClassVar[int] = 1

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read one document; see :class:`graphctx.ingest.read.base.DocumentReader`."""
        metadata = check_package(data, uri, "a Word document")
        try:
            html = _to_html(data)
        except RecursionError as error:
            raise InvalidArgument(
                f"{uri} nests tables or other elements too deeply to be read. Flatten them and save it again.", uri=uri
            ) from error
        except Exception as error:  # the library raises whatever a damaged file leads it to
            raise InvalidArgument(
                f"{uri} is damaged or not a Word document: {type(error).__name__}.", uri=uri
            ) from error
        text, outline, _ = parse_html(normalise(html))
        return ReadFile((make_document(uri, MEDIA_TYPE, text, outline, metadata),))


def _to_html(data: bytes) -> str:
    import mammoth

    def without_image(_: Any) -> list[Any]:
        """Images would come as megabytes of base64."""
        return []

    result = mammoth.convert_to_html(io.BytesIO(data), style_map=_STYLES, convert_image=without_image)
    return str(result.value)
