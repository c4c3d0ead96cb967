"""The one normal form of a document's text. It is made once, when the document is read."""

from __future__ import annotations

import re
import unicodedata

_LINE_END = re.compile(r"\r\n?")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_BYTE_ORDER_MARK = "\ufeff"


def normalise(text: str) -> str:
    """Bring a text into the form that every offset counts in; a second time changes nothing.

    Byte order marks at the start are removed, ``\\r\\n`` and ``\\r`` become ``\\n``, NUL and lone surrogates (which
    neither UTF-8 nor the stores can hold) become U+FFFD, and the rest is composed to Unicode NFC.
    """
    text = text.lstrip(_BYTE_ORDER_MARK)
    if "\r" in text:
        text = _LINE_END.sub("\n", text)
    if text.isascii():
        return text.replace("\x00", "\ufffd")
    return unicodedata.normalize("NFC", _UNSTORABLE.sub("\ufffd", text))
