"""Subtitles and transcripts: SubRip and WebVTT, with the time of each part as its anchor."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import unescape
from typing import ClassVar

from graphctx.errors import InvalidArgument
from graphctx.ingest.read.base import ReadFile, decode, make_document, suffix_of
from graphctx.ingest.read.builder import TextBuilder

PART_SECONDS = 60
"""A part begins with the first cue after so long, so that its anchor is near what is said."""

PAUSE_SECONDS = 2.0
"""A longer pause ends a paragraph, as a change of the speaker does."""

_TIMES = re.compile(r"\s*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})\s*-->\s*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})")
_VOICE = re.compile(r"<v(?:\.[^ <>]{0,200})?[ \t\n]([^<>]{1,200})>")
_TAG = re.compile(
    r"</?(?:c|i|b|u|v|s|ruby|rt|lang|font)(?:[. \t\n][^<>]{0,200})?/?>"
    r"|<(?:\d+:)?\d{2}:\d{2}\.\d{3}>|\{\\[^{}]{0,200}\}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Cue:
    start: float
    end: float
    speaker: str
    text: str


class SubtitleReader:
    """What is said, in paragraphs; a section a minute, whose anchor is the time: ``00:01:02``."""

    media_types: ClassVar[Mapping[str, str]] = {".srt": "application/x-subrip", ".vtt": "text/vtt"}
    version: ClassVar[int] = 1

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read one file; see :class:`graphctx.ingest.read.base.DocumentReader`."""
        text, notes = decode(data, uri)
        cues = list(_cues(text))
        if not cues:
            raise InvalidArgument(f"{uri} holds no cues: no line `00:00:01,000 --> 00:00:02,000` with a text.", uri=uri)
        builder = TextBuilder()
        said: list[str] = []
        began = cues[0].start
        builder.place(_shown(began))
        for number, cue in enumerate(cues):
            before = cues[number - 1] if number else None
            fresh = before is None or cue.speaker != before.speaker
            if before is not None and (fresh or cue.start - before.end > PAUSE_SECONDS or _is_due(cue, before, began)):
                builder.block("prose", "\n".join(said))
                said = []
                if cue.start - began >= PART_SECONDS:
                    began = cue.start
                    builder.place(_shown(began))
            said.append(f"{cue.speaker}: {cue.text}" if cue.speaker and not said else cue.text)
        builder.block("prose", "\n".join(said))
        document = make_document(uri, self.media_types[suffix_of(uri)], builder.text, builder.outline)
        return ReadFile((document,), notes=notes)


def _is_due(cue: _Cue, before: _Cue, began: float) -> bool:
    return cue.start - began >= PART_SECONDS and before.text.endswith((".", "?", "!", "…"))


def _cues(text: str) -> Iterator[_Cue]:
    """Yield the cues that have a text; what stands between them (numbers, notes, styles) is left out."""
    for chunk in re.split(r"\n[ \t]*\n", text):
        lines = chunk.split("\n")
        at = next((number for number, line in enumerate(lines) if _TIMES.match(line)), None)
        if at is None:
            continue
        times = _TIMES.match(lines[at])
        assert times is not None
        parts = _VOICE.split("\n".join(lines[at + 1 :]))
        for voice, spoken in zip(["", *parts[1::2]], parts[::2], strict=True):
            if said := _plain(_TAG.sub("", spoken)):
                yield _Cue(_seconds(times.group(1)), _seconds(times.group(2)), _plain(voice), said)


def _plain(marked: str) -> str:
    return " ".join(unescape(marked).split())


def _seconds(time: str) -> float:
    seconds = 0.0
    for part in time.replace(",", ".").split(":"):
        seconds = 60 * seconds + float(part)
    return seconds


def _shown(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"
