from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphctx.ingest.corpus import Corpus
from graphctx.ingest.link import Linked, link_corpus
from graphctx.ingest.link_targets import corpus_definitions
from graphctx.ingest.resolve import resolve_names
from graphctx.ingest.split import split_document
from graphctx.model.documents import Document
from graphctx.model.knowledge import LABELS
from graphctx.nlp.spacy_extractor import SpacyExtractor
from graphctx.nlp.tokens import WordPieceCounter
from graphctx.store.walk import WalkArrays, name_hash
from graphctx.text.gazetteer import name_words

Read = Callable[[str, str], Document]
EXTRACTOR = SpacyExtractor()
COUNTER = WordPieceCounter()


def build(read: Read, files: Mapping[str, str]) -> tuple[Corpus, Linked]:
    documents = [read(uri, text) for uri, text in files.items()]
    corpus = Corpus.of([(document, split_document(document, COUNTER, unit_tokens=64)) for document in documents])
    found = [EXTRACTOR.extract(document, corpus.units_of(row)) for row, document in enumerate(corpus.documents)]
    definitions = corpus_definitions(corpus)
    resolution = resolve_names(found, definitions, n_units=len(corpus.units))
    return corpus, link_corpus(corpus, found, resolution, definitions)


def links(read: Read, files: Mapping[str, str]) -> dict[tuple[str, str], tuple[int, int]]:
    corpus, linked = build(read, files)
    uris = [document.uri for document in corpus.documents]
    return {(uris[a], uris[b]): (int(n), int(titles)) for a, b, n, titles in rows(linked.links)}


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in table.to_pylist()]


def named(linked: Linked, name: str) -> int:
    return next(row for row, e in enumerate(linked.entities) if name in (e.name, *e.aliases))


WORDS = st.sampled_from(
    [
        "Maren Halloran",
        "Harbour Gate",
        "the sieve",
        "Sieve",
        "FW-17",
        "opens",
        "was built by",
        "`max_wave`",
        "is a station",
        "Storm Ottilie",
        ".",
        "\n\n",
        "\n\n# Harbour Gate\n\n",
        "\n\n## Sieve (filter)\n\n",
        "[gate](b.md)",
        "and",
        "Port Averil, old",
    ]
)
FILES = st.dictionaries(
    st.sampled_from(["a.md", "b.md", "c/d.md"]), st.lists(WORDS, min_size=3, max_size=25).map(" ".join), min_size=1
).filter(lambda files: all(any(c.isalnum() for c in text) for text in files.values()))


@settings(max_examples=40)
@given(files=FILES)
def test_the_walk_arrays_fit_together(read_text: Read, files: dict[str, str]) -> None:
    corpus, linked = build(read_text, files)
    check(corpus, linked)


def test_the_walk_arrays_of_documents_without_any_name_fit_together(read_text: Read) -> None:
    corpus, linked = build(read_text, {"a.txt": "and so on, and on, and on\n", "b.txt": "1 2 3\n"})
    check(corpus, linked)


def check(corpus: Corpus, linked: Linked) -> None:
    walk: WalkArrays = linked.arrays
    n, e, p = len(corpus.units), len(linked.entities), len(walk.pair_unit)
    assert walk.n_units == n
    assert walk.n_entities == e
    for ptr, count, total in (
        (walk.unit_sentence, n, len(walk.sentence_start)),
        (walk.unit_pair, n, p),
        (walk.pair_sentence_ptr, p, len(walk.pair_sentence)),
        (walk.entity_ptr, e, p),
        (walk.definition_ptr, e, len(walk.definition_unit)),
    ):
        assert len(ptr) == count + 1
        assert ptr[0] == 0
        assert ptr[-1] == total
        assert (np.diff(ptr) >= 0).all()
    pairs = list(zip(walk.pair_unit.tolist(), walk.pair_entity.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    assert sorted(walk.entity_pair.tolist()) == list(range(p))
    for entity in range(e):
        own = walk.entity_pair[walk.entity_ptr[entity] : walk.entity_ptr[entity + 1]]
        assert (walk.pair_entity[own] == entity).all()
        assert (np.diff(walk.pair_unit[own]) > 0).all()
        defining = own[walk.pair_definition[own] > 0]
        definitions = slice(walk.definition_ptr[entity], walk.definition_ptr[entity + 1])
        assert walk.definition_unit[definitions].tolist() == walk.pair_unit[defining].tolist()
        assert walk.definition_value[definitions].tolist() == walk.pair_definition[defining].tolist()
        assert linked.entities[entity].n_units == len(own)
    for pair, (unit, _) in enumerate(pairs):
        sentences = walk.pair_sentence[walk.pair_sentence_ptr[pair] : walk.pair_sentence_ptr[pair + 1]]
        assert ((sentences >= walk.unit_sentence[unit]) & (sentences < walk.unit_sentence[unit + 1])).all()
    assert ((walk.pair_definition >= 0) & (walk.pair_definition <= 1)).all()
    assert ((walk.pair_place > 0) & (walk.pair_place <= 0.7)).all()
    assert ((walk.entity_proper > 0) & (walk.entity_proper <= 1)).all()
    assert ((walk.entity_label >= 0) & (walk.entity_label < len(LABELS))).all()
    assert (np.diff(walk.name_hash.astype(object)) >= 0).all()
    assert ((walk.name_entity >= 0) & (walk.name_entity < max(e, 1))).all()
    ids = [entity.id for entity in linked.entities]
    assert ids == sorted(set(ids))
    keys = [(unit, start, end, entity) for unit, _, entity, _, start, end in rows(linked.mentions)]
    assert keys == sorted(keys)
    for unit, sentence, _, _, start, end in rows(linked.mentions):
        assert walk.unit_sentence[unit] <= sentence < walk.unit_sentence[unit + 1]
        assert corpus.units[unit].start_char <= start < end <= corpus.units[unit].end_char


def test_a_name_that_only_a_heading_introduces_is_found_wherever_it_is_mentioned(read_text: Read) -> None:
    corpus, linked = build(
        read_text,
        {
            "a.md": "# Ropewalk\n\n## Gannet Tide Model\n\nIt counts.",
            "b.md": "# B\n\nEvery hour the gannet tide model runs.",
        },
    )
    row = named(linked, "gannet tide model")
    walk = linked.arrays
    units = walk.pair_unit[walk.entity_pair[walk.entity_ptr[row] : walk.entity_ptr[row + 1]]]
    assert {corpus.documents[walk.unit_doc[unit]].uri for unit in units} == {"a.md", "b.md"}


def test_every_name_of_an_entity_is_in_the_dictionary_of_questions(read_text: Read) -> None:
    _, linked = build(
        read_text,
        {"a.md": "# Site Reliability Group (SRG)\n\nThe Site Reliability Group (SRG) keeps the gate. SRG is on call."},
    )
    walk = linked.arrays
    for name in ("Site Reliability Group", "SRG"):
        at = np.searchsorted(walk.name_hash, np.uint64(name_hash([w for w, _, _ in name_words(name)])))
        assert walk.name_hash[at] == np.uint64(name_hash([w for w, _, _ in name_words(name)]))
        assert linked.entities[walk.name_entity[at]].name == linked.entities[named(linked, name)].name


@pytest.mark.parametrize(
    ("source", "target", "written"),
    [
        ("a.md", "b.md", "b.md"),
        ("a.md", "b.md", "./b.md#keys"),
        ("x/a.md", "b.md", "../b.md"),
        ("x/y/a.md", "x/z/b.md", "../z/b.md?plain=1#k"),
        ("a.md", "my file.md", "my%20file.md"),
        ("a.md", "größe.md", "gr%C3%B6%C3%9Fe.md"),
        ("a.md", "x/b.md", "x/b.html"),
        ("a.md", "x/b.md", "x/b"),
        ("a.md", "x/index.md", "x/"),
        ("a.md", "x/README.md", "x"),
        ("a.md", "x/b.rst", "x/b.html#part"),
        ("a.md", "x/release-1.2.md", "x/release-1.2"),
        ("a.md", "x/release-1.2.md", "x/release-1.2.html"),
        ("a.md", "x/release-1.2/index.md", "x/release-1.2/"),
        ("a.md", "docs/x/release-1.2.md", "/x/release-1.2"),
        ("a.md", "docs/x/b.md", "/x/b.md"),
        ("a.md", "docs/x/b.md", "/x/b.html"),
        ("a.md", "docs/x/index.md", "/docs/x/"),
    ],
)
def test_a_relative_link_leads_to_the_document_that_it_means(
    read_text: Read, source: str, target: str, written: str
) -> None:
    files = {
        source: f"# Source Page\n\nSee [it]({written}).",
        target: "# Target\n\nHere.\n" if target.endswith("md") else "Target\n======\n\nHere.\n",
    }
    assert links(read_text, files)[source, target][0] == 1


@pytest.mark.parametrize(
    "written",
    [
        "https://example.org/b.md",
        "//example.org/b.md",
        "/b.md",
        "../b.md",
        "../../../b.md",
        "#keys",
        "mailto:b.md",
        "c.html",
        "http://[b",
        "a.md",
    ],
)
def test_a_link_to_elsewhere_leads_nowhere(read_text: Read, written: str) -> None:
    assert links(read_text, {"a.md": f"# Source Page\n\nSee [that]({written}).", "b.md": "# Target\n\nHere."}) == {}


@pytest.mark.parametrize("written", ["/x/b.json", "/x/b.rst", "x/b.json", "x/b.1", "/x/b.1"])
def test_a_link_to_a_file_of_another_kind_is_no_link_to_a_page(read_text: Read, written: str) -> None:
    assert links(read_text, {"a.md": f"# Source Page\n\nSee [it]({written}).", "x/b.md": "# Target\n\nHere."}) == {}


def test_a_link_from_the_root_that_says_the_kind_of_file_means_that_file(read_text: Read) -> None:
    files = {"a.md": "# Source Page\n\nSee [it](/x/b.md).", "d/x/b.md": "# Target\n\nHere.", "d/x/b.txt": "There.\n"}
    assert links(read_text, files) == {("a.md", "d/x/b.md"): (1, 0)}


def test_a_page_with_two_possible_sources_leads_to_neither(read_text: Read) -> None:
    files = {"a.md": "# Source Page\n\nSee [it](b.html).", "b.md": "# Target\n\nHere.", "b.txt": "There it is.\n"}
    assert links(read_text, files) == {}


def test_a_document_that_names_the_title_of_another_is_linked_to_it(read_text: Read) -> None:
    files = {"a.md": "# Winter Desk\n\nIt reads the Storm Ledger each night.", "b.md": "# Storm Ledger\n\nA book."}
    assert links(read_text, files) == {("a.md", "b.md"): (0, 1)}


def test_a_title_that_two_documents_share_links_to_none_of_them(read_text: Read) -> None:
    files = {
        "a.md": "# Winter Desk\n\nThe Storm Ledger.",
        "b.md": "# Storm Ledger\n\nA book.",
        "c.md": "# Storm Ledger\n\nA file.",
    }
    assert not [edge for edge in links(read_text, files) if edge[0] == "a.md"]


def test_a_longer_title_does_not_take_the_mentions_of_the_name_inside_it(read_text: Read) -> None:
    long = "# How and why the people of the whole old harbour must all read the Storm Ledger every night"
    files = {
        "a.md": "# Winter Desk\n\nThe Storm Ledger.",
        "b.md": "# Storm Ledger\n\nA book.",
        "c.md": f"{long}\n\nThey do.",
    }
    assert links(read_text, files)["a.md", "b.md"] == (0, 1)
    assert ("a.md", "c.md") not in links(read_text, files)


def definitions_of(corpus: Corpus, linked: Linked, name: str) -> list[str]:
    row = named(linked, name)
    units = linked.arrays.definition_unit[linked.arrays.definition_ptr[row] : linked.arrays.definition_ptr[row + 1]]
    return [corpus.documents[linked.arrays.unit_doc[unit]].uri for unit in units]


def test_the_label_of_a_link_names_what_it_leads_to(read_text: Read) -> None:
    files = {
        "a.md": "# Winter Desk\n\nThe watch is kept by the [Night Shift](b.md#hours). Night Shift it is.",
        "b.md": "# Duty\n\nWho and when.\n\n## Hours\n\nTen to six.",
    }
    corpus, linked = build(read_text, files)
    assert definitions_of(corpus, linked, "Night Shift") == ["b.md"]
    row = named(linked, "Night Shift")
    unit = corpus.units[linked.arrays.definition_unit[linked.arrays.definition_ptr[row]]]
    assert "Ten to six" in corpus.documents[1].text[unit.start_char : unit.end_char]


def test_a_label_that_says_nothing_names_nothing(read_text: Read) -> None:
    files = {"a.md": "# Winter Desk\n\nSee [here](b.md) and [the next page](b.md).", "b.md": "# Duty\n\nWho and when."}
    _, linked = build(read_text, files)
    assert not {"here", "the next page", "next page"} & {entity.name for entity in linked.entities}


def test_a_link_from_the_root_of_a_site_finds_the_only_document_below_it(read_text: Read) -> None:
    files = {"src/a.md": "# Source Page\n\nSee [it](/guide/b/).", "src/guide/b.md": "# Target\n\nHere."}
    assert links(read_text, files) == {("src/a.md", "src/guide/b.md"): (1, 0)}
    files["old/guide/b.md"] = "# Target\n\nHere it was."
    assert links(read_text, files) == {}


def test_a_label_that_many_documents_define_is_at_home_in_none(read_text: Read) -> None:
    files = {f"{name}.md": f"# Rule {name}\n\n**Signed Off By:** Maren.\n\n**{name * 4}:** a word." for name in "abcd"}
    _, linked = build(read_text, files)
    by_name = {entity.name: row for row, entity in enumerate(linked.entities)}
    row = by_name.get("Signed Off By")
    assert row is None or linked.arrays.definition_ptr[row] == linked.arrays.definition_ptr[row + 1]
    at = by_name["aaaa"]
    assert linked.arrays.definition_ptr[at] < linked.arrays.definition_ptr[at + 1]


def test_a_name_in_code_is_as_proper_as_a_capital(read_text: Read) -> None:
    files = {
        "a.md": "# Options\n\n- `tail`: the last lines.\n\nThe slow tide turns. A slow tide again. One more slow tide.",
        "b.md": "# Use\n\nGive `tail` a number, or `tail` nothing.\n",
    }
    _, linked = build(read_text, files)
    proper = linked.arrays.entity_proper
    assert proper[named(linked, "tail")] == 1.0
    assert proper[named(linked, "slow tide")] < 0.5
