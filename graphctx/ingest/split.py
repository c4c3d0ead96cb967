"""The split step: a document into sections, sections into text units, units into sentences.

A text unit is one contiguous span inside one section. It is packed from whole blocks as long as they fit, so
code blocks and tables stay in one piece up to their own, larger cap.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Protocol

from graphctx.ingest.memoised import KeptAs
from graphctx.ingest.outline import outline_of
from graphctx.ingest.sentence_forms import SentenceForms, sentence_forms
from graphctx.model.documents import Block, BlockKind, Document, Heading, Section, Sentence, TextUnit
from graphctx.model.ids import content_id, fingerprint, unit_ids
from graphctx.nlp.weights import TOKENIZER, expected_sha256
from graphctx.text.sentences import marker_start, split_sentences

SPLIT_VERSION = 6
UNIT_TOKENS = 256
"""Target and cap of a unit of prose: what the default embedder sees of a text."""

WHOLE_BLOCK_TOKENS = 512
"""A code block or a table is kept whole up to this many tokens."""


class TokenCounter(Protocol):
    """Counts the tokens of many texts at once."""

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text."""


@dataclass(frozen=True, slots=True)
class Split:
    """The parts of one document, in document order; ``forms`` has those of the sentences of all units."""

    sections: tuple[Section, ...]
    units: tuple[TextUnit, ...]
    forms: SentenceForms


SPLITS = KeptAs("split", Split)


@dataclass(frozen=True, slots=True)
class _Atom:
    """What is never divided further: a sentence, or a whole block of code or a table that is small enough."""

    kind: BlockKind
    block: int
    sentences: tuple[Sentence, ...]
    tokens: int

    @property
    def start(self) -> int:
        return self.sentences[0].start_char

    @property
    def end(self) -> int:
        return self.sentences[-1].end_char


def split_document(document: Document, counter: TokenCounter, *, unit_tokens: int = UNIT_TOKENS) -> Split:
    """Split a document.

    Args:
        document: as it was read; its ``headings`` and ``blocks`` are sorted. Blocks do not overlap; in source code
            a block may start with the line that is its heading.
        counter: the token counter of the embedder.
        unit_tokens: cap of a unit of prose.

    Returns:
        Sections, units with their sentences, and the forms of these.
    """
    sections = _sections(document)
    atoms = _atoms(document, counter, max(unit_tokens, WHOLE_BLOCK_TOKENS * unit_tokens // UNIT_TOKENS))
    groups: list[tuple[Section, list[_Atom]]] = []
    at = 0
    for section in sections:
        mine: list[_Atom] = []
        while at < len(atoms) and atoms[at].start < section.end_char:
            mine.append(atoms[at])
            at += 1
        groups += [(section, group) for group in _pack(mine, unit_tokens)]
    spans = [_span(document, section, group) for section, group in groups]
    ids = unit_ids(document.id, [document.text[start:end] for start, end in spans])
    units = [_unit(document, *groups[n], n, ids[n], spans[n]) for n in range(len(groups))]
    return Split(tuple(sections), tuple(units), sentence_forms(document, units))


def split_by_word_pieces(document: Document, unit_tokens: int) -> Split:
    """Split a document by the tokens of the default embedder."""
    return split_document(document, _word_pieces(), unit_tokens=unit_tokens)


def split_key(document: Document, unit_tokens: int) -> str:
    """Return a key of everything that `split_by_word_pieces` depends on."""
    versions = f"split {SPLIT_VERSION} {unit_tokens} {_tokenizer_sha256()}"
    return fingerprint((versions, document.id, document.title, document.sha256, outline_of(document)))


@lru_cache(maxsize=1)
def _tokenizer_sha256() -> str:
    return expected_sha256(TOKENIZER)


@lru_cache(maxsize=1)
def _word_pieces() -> TokenCounter:
    from graphctx.nlp.tokens import WordPieceCounter

    return WordPieceCounter()


def _sections(document: Document) -> list[Section]:
    headings = document.headings
    sections: list[Section] = []
    first = headings[0].start_char if headings else len(document.text)
    if first > 0 or not headings:
        sections.append(
            Section(content_id("s", document.id, 0), document.id, None, 0, 0, document.title, (), None, 0, first)
        )
    stack: list[Section] = []
    repeats: dict[tuple[str, ...], int] = {}
    for number, heading in enumerate(headings):
        while stack and stack[-1].level >= heading.level:
            stack.pop()
        # A place has no words in the text; its anchor names it.
        title = heading.title if heading.end_char > heading.start_char else heading.anchor or ""
        path = (*(stack[-1].path if stack else ()), title)
        repeats[path] = repeats.get(path, 0) + 1
        end = headings[number + 1].start_char if number + 1 < len(headings) else len(document.text)
        section = Section(
            id=content_id("s", document.id, *path, repeats[path]),
            doc_id=document.id,
            parent_id=stack[-1].id if stack else None,
            ordinal=len(sections),
            level=heading.level,
            title=title,
            path=path,
            anchor=heading.anchor,
            start_char=heading.start_char,
            end_char=end,
        )
        sections.append(section)
        stack.append(section)
    return sections


def _atoms(document: Document, counter: TokenCounter, whole_block_tokens: int) -> list[_Atom]:
    blocks = [*document.blocks, *_lonely_headings(document)]
    blocks.sort(key=lambda block: block.start_char)
    texts = [document.text[block.start_char : block.end_char] for block in blocks]
    sentences = [
        tuple(Sentence(block.start_char + a, block.start_char + b) for a, b in split_sentences(text, block.kind))
        for block, text in zip(blocks, texts, strict=True)
    ]
    flat = [(number, sentence) for number, group in enumerate(sentences) for sentence in group]
    counts = counter.count_many([document.text[start:end] for start, end in _stretches(blocks, flat)])
    atoms: list[_Atom] = []
    for number, group in groupby(zip(flat, counts, strict=True), key=lambda item: item[0][0]):
        parts = [(sentence, tokens) for (_, sentence), tokens in group]
        kind, total = blocks[number].kind, sum(tokens for _, tokens in parts)
        if kind in ("code", "table") and total <= whole_block_tokens:
            atoms.append(_Atom(kind, number, tuple(sentence for sentence, _ in parts), total))
        else:
            atoms += [_Atom(kind, number, (sentence,), tokens) for sentence, tokens in parts]
    return atoms


def _stretches(blocks: Sequence[Block], flat: Sequence[tuple[int, Sentence]]) -> list[tuple[int, int]]:
    """Spans that end with each sentence and include the bullets and rules before it, whose tokens count too."""
    at, last = 0, -1
    stretches = []
    for number, sentence in flat:
        if number != last:
            at, last = blocks[number].start_char, number
        stretches.append((at, sentence.end_char))
        at = sentence.end_char
    return stretches


def _lonely_headings(document: Document) -> list[Block]:
    """Headings with neither text nor a deeper heading below them: what they say would be lost otherwise."""
    starts = [block.start_char for block in document.blocks]
    followers: list[Heading | None] = [*document.headings[1:], None]
    lonely = []
    for heading, following in zip(document.headings, followers, strict=False):
        end = following.start_char if following else len(document.text)
        has_text = bisect_left(starts, heading.start_char) < bisect_left(starts, end)
        if not has_text and (following is None or following.level <= heading.level):
            lonely.append(Block("prose", heading.start_char, heading.end_char))
    return lonely


def _pack(atoms: Sequence[_Atom], cap: int) -> list[list[_Atom]]:
    """Group atoms into units: whole blocks first, a block that is too long for one unit evenly into several."""
    groups: list[list[_Atom]] = []
    room = -1  # tokens that still fit in the last group
    for _, atoms_of_block in groupby(atoms, key=lambda atom: atom.block):
        block = list(atoms_of_block)
        tokens = sum(atom.tokens for atom in block)
        if tokens > cap:
            groups += _evenly(block, tokens, cap)
            room = -1
        elif tokens <= room:
            groups[-1] += block
            room -= tokens
        else:
            groups.append(block)
            room = cap - tokens
    return groups


def _evenly(block: Sequence[_Atom], tokens: int, cap: int) -> list[list[_Atom]]:
    parts = -(-tokens // cap)
    share = tokens / parts
    groups: list[list[_Atom]] = [[]]
    size = 0.0
    for atom in block:
        fits = size + atom.tokens <= cap
        if groups[-1] and (not fits or size + atom.tokens / 2 > share):
            groups.append([])
            size = 0.0
        groups[-1].append(atom)
        size += atom.tokens
    return groups


def _span(document: Document, section: Section, group: Sequence[_Atom]) -> tuple[int, int]:
    """Return the span of a unit, with the bullet before its first sentence."""
    start = group[0].start
    if group[0].kind != "code":
        start = max(section.start_char, marker_start(document.text, start))
    return start, group[-1].end


def _unit(
    document: Document, section: Section, group: Sequence[_Atom], ordinal: int, unit_id: str, span: tuple[int, int]
) -> TextUnit:
    kinds = {atom.kind for atom in group}
    return TextUnit(
        id=unit_id,
        doc_id=document.id,
        section_id=section.id,
        ordinal=ordinal,
        kind=group[0].kind if len(kinds) == 1 else "prose",
        start_char=span[0],
        end_char=span[1],
        n_tokens=sum(atom.tokens for atom in group),
        sentences=tuple(sentence for atom in group for sentence in atom.sentences),
    )
