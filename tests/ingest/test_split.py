from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from graphctx.ingest.split import WHOLE_BLOCK_TOKENS, Split, split_document
from graphctx.model.documents import Document
from graphctx.nlp.tokens import WordPieceCounter
from graphctx.text.sentences import marker_start

Read = Callable[[str, str], Document]
COUNTER = WordPieceCounter()

PARAGRAPH = st.lists(
    st.sampled_from(
        [
            "The gate opens at noon.",
            "It was closed, e.g. on Sundays.",
            "Who has the key?",
            "Nobody knows. " * 12,
            "`x`.",
        ]
    ),
    min_size=1,
    max_size=6,
).map(" ".join)
PARTS = st.one_of(
    PARAGRAPH,
    st.integers(1, 4).map(lambda level: "#" * level + " Heading of level " + str(level)),
    st.lists(PARAGRAPH, min_size=1, max_size=12).map(lambda items: "\n".join(f"- {item}" for item in items)),
    st.integers(1, 90).map(lambda n: "```py\n" + "value = compute(1)\n" * n + "```"),
    st.integers(1, 60).map(lambda n: "| a | b |\n|---|---|\n" + "| gate | open |\n" * n),
)
MARKDOWN = st.lists(PARTS, min_size=1, max_size=14).map("\n\n".join)
CAPS = st.sampled_from([32, 64, 256])


def cut(document: Document, unit_tokens: int = 256) -> Split:
    return split_document(document, COUNTER, unit_tokens=unit_tokens)


@given(text=MARKDOWN, cap=CAPS)
def test_units_are_spans_inside_one_section_in_order_without_overlap(read_text: Read, text: str, cap: int) -> None:
    document = read_text("a.md", text)
    split = cut(document, cap)
    sections = {section.id: section for section in split.sections}
    assert len(sections) == len(split.sections)
    assert len({unit.id for unit in split.units}) == len(split.units)
    assert [unit.ordinal for unit in split.units] == list(range(len(split.units)))
    assert all(a.end_char <= b.start_char for a, b in pairwise(split.units))
    for unit in split.units:
        section = sections[unit.section_id]
        assert section.start_char <= unit.start_char < unit.end_char <= section.end_char
        first = unit.sentences[0].start_char
        assert unit.start_char in (first, marker_start(document.text, first))
        assert unit.sentences[-1].end_char == unit.end_char
        assert all(a.end_char <= b.start_char for a, b in pairwise(unit.sentences))


@given(text=MARKDOWN, cap=CAPS)
def test_a_unit_keeps_its_cap_unless_one_sentence_or_one_whole_block_is_longer(
    read_text: Read, text: str, cap: int
) -> None:
    document = read_text("a.md", text)
    for unit in cut(document, cap).units:
        if unit.n_tokens <= cap:
            continue
        one_sentence = len(unit.sentences) == 1
        whole_block = unit.kind in ("code", "table") and unit.n_tokens <= WHOLE_BLOCK_TOKENS * cap // 256
        assert one_sentence or whole_block


@given(text=MARKDOWN)
def test_a_unit_of_one_block_really_has_no_more_tokens_than_it_says(read_text: Read, text: str) -> None:
    document = read_text("a.md", text)
    for unit in cut(document, 64).units:
        inside = [b for b in document.blocks if b.start_char <= unit.start_char and unit.end_char <= b.end_char]
        if inside:
            assert COUNTER.count(document.text[unit.start_char : unit.end_char]) <= unit.n_tokens


@given(text=MARKDOWN, cap=CAPS)
def test_every_word_of_every_block_is_in_a_unit(read_text: Read, text: str, cap: int) -> None:
    document = read_text("a.md", text)
    covered = {at for unit in cut(document, cap).units for at in range(unit.start_char, unit.end_char)}
    for block in document.blocks:
        inside = range(block.start_char, block.end_char)
        assert not [document.text[at] for at in inside if document.text[at].isalnum() and at not in covered]


@given(text=MARKDOWN)
def test_the_same_document_is_split_the_same_way(read_text: Read, text: str) -> None:
    document = read_text("a.md", text)
    assert cut(document) == cut(document)


def test_a_code_block_stays_whole_beyond_the_cap_of_prose(read_text: Read) -> None:
    code = "```py\n" + "value = compute(1)\n" * 60 + "```"
    document = read_text("a.md", f"# T\n\nBefore it.\n\n{code}\n\nAfter it.")
    whole = [unit for unit in cut(document).units if "compute" in document.text[unit.start_char : unit.end_char]]
    assert len(whole) == 1
    assert 256 < whole[0].n_tokens <= WHOLE_BLOCK_TOKENS
    assert document.text[whole[0].start_char : whole[0].end_char].count("compute") == 60


def test_a_table_beyond_its_own_cap_is_divided_at_rows(read_text: Read) -> None:
    rows = "".join(f"| station {i} | open |\n" for i in range(200))
    document = read_text("a.md", f"# T\n\n| a | b |\n|---|---|\n{rows}")
    units = cut(document).units
    assert len(units) > 1
    for unit in units:
        text = document.text[unit.start_char : unit.end_char]
        assert text.startswith("|")
        assert text.endswith("|")


def test_a_heading_with_nothing_below_it_is_kept(read_text: Read) -> None:
    document = read_text("a.md", "# Top\n\ntext\n\n## Only a heading\n\n## Parent\n\n### Child\n\nmore\n\n# Last words")
    split = cut(document)
    texts = [document.text[unit.start_char : unit.end_char] for unit in split.units]
    assert [section.title for section in split.sections] == ["Top", "Only a heading", "Parent", "Child", "Last words"]
    assert "## Only a heading" in texts
    assert "# Last words" in texts
    assert not [text for text in texts if "Parent" in text]


def test_sections_nest_by_level_and_know_their_path(read_text: Read) -> None:
    document = read_text("a.md", "intro\n\n# A\n\nx\n\n## B\n\ny\n\n## B\n\nz\n\n# C\n\nw")
    sections = cut(document).sections
    assert [section.path for section in sections] == [(), ("A",), ("A", "B"), ("A", "B"), ("C",)]
    assert [section.level for section in sections] == [0, 1, 2, 2, 1]
    parents = {section.id: section.title for section in sections}
    assert [parents.get(section.parent_id or "") for section in sections] == [None, None, "A", "A", None]
    assert [a.end_char for a in sections[:-1]] == [b.start_char for b in sections[1:]]


def test_an_inserted_paragraph_leaves_the_ids_of_other_sections_alone(read_text: Read) -> None:
    sections = [f"## Part {i}\n\n" + f"Gate {i} opens at noon. " * 30 for i in range(6)]
    before = read_text("a.md", "# T\n\n" + "\n\n".join(sections))
    after = read_text("a.md", "# T\n\nSomething else altogether.\n\n" + "\n\n".join(sections))
    old, new = cut(before), cut(after)
    assert {unit.id for unit in old.units} < {unit.id for unit in new.units}
    assert {section.id for section in old.sections if section.level} <= {section.id for section in new.sections}


def test_equal_passages_of_a_document_have_ids_of_their_own(read_text: Read) -> None:
    document = read_text("a.md", "# A\n\nSame words.\n\n# B\n\nSame words.")
    first, second = cut(document).units
    assert first.id != second.id
    other = read_text("b.md", "# A\n\nSame words.")
    assert cut(other).units[0].id not in (first.id, second.id)
