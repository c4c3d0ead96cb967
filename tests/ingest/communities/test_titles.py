from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from graphctx.ingest.communities.evidence import CommunityEvidence, Level
from graphctx.ingest.communities.titles import title_of, title_share, topic_titles
from graphctx.ingest.embed import Quantised
from graphctx.text.names import shown_name


def evidence(names: list[str], label: str = "term", proper: float = 1.0) -> CommunityEvidence:
    """Entities of these names, and nothing else that titles look at."""
    none = np.empty(0, dtype=np.int64)
    count = len(names)
    return CommunityEvidence(
        entity_ids=[f"e_{at:02}" for at in range(count)],
        names=names,
        label=[label] * count,
        proper=np.full(count, proper),
        named=np.zeros(count),
        **dict.fromkeys(
            ("mention_unit", "mention_sentence", "mention_entity", "definition_unit", "definition_entity"), none
        ),
        fact_ids=[],
        fact_predicate=[],
        **dict.fromkeys(("fact_source", "fact_target", "fact_sentence"), none),
        fact_weight=np.empty(0),
        **dict.fromkeys(("sentence_unit", "sentence_start", "sentence_end", "unit_doc"), none),
        unit_kind=[],
        unit_heading=[],
        texts=[],
        titles=[],
        vectors=Quantised(np.empty((0, 4), np.int8), np.empty(0, np.float32)),
    )


def title(names: list[str], part: tuple[int, ...] = ()) -> str:
    weight = np.linspace(1.0, 0.9, len(names))
    return title_of(evidence(names), list(range(len(names))), weight, part)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("The radius", "radius"),
        ("The Who", "The Who"),
        ("histogram_sum()", "histogram_sum"),
        ("<boundary_rule>", "boundary_rule"),
        ("Option<T>", "Option<T>"),
        ("Winter\n  Desk", "Winter Desk"),
        ("A", "A"),
    ],
)
def test_a_name_is_shown_without_what_is_no_part_of_it(name: str, shown: str) -> None:
    assert shown_name(name) == shown


@pytest.mark.parametrize(
    "junk",
    ["range", "next", "What we found", "So, what", "using"],
)
def test_what_names_no_theme_comes_after_names(junk: str) -> None:
    made = evidence([junk, "Kettlewell"])
    assert title_share(made, 0) < title_share(made, 1)


def test_no_name_is_part_of_another() -> None:
    assert title(["Kettlewell Trench", "Kettlewell", "clippy::approx_constant", "approx_constant", "Brannoch"]) == (
        "Kettlewell Trench, clippy::approx_constant, Brannoch"
    )


def test_a_title_tells_of_several_parts_of_a_community() -> None:
    names = ["Kettlewell", "Brannoch", "Skerrick", "Ploughgate"]
    assert title(names) == "Kettlewell, Brannoch, Skerrick"
    assert title(names, (0, 0, 0, 1)) == "Kettlewell, Ploughgate, Brannoch"


def test_a_third_name_that_says_little_is_left_out() -> None:
    made = evidence(["Kettlewell", "Brannoch", "Skerrick"])
    assert title_of(made, [0, 1, 2], np.array([1.0, 0.9, 0.1])) == "Kettlewell, Brannoch"
    assert title_of(replace(made, names=["K" * 30, "B" * 28, "S" * 10]), [0, 1, 2], np.ones(3)).count(",") == 1


def topic(sections: dict[tuple[str, str], list[str]], community: set[str]) -> str:
    """The title of one community of some names, where sections, by document and heading, mention names."""
    names = sorted({name for mentioned in sections.values() for name in mentioned})
    documents = list(dict.fromkeys(document for document, _ in sections))
    mentions = [(unit, names.index(name)) for unit, some in enumerate(sections.values()) for name in some]
    unit, entity = np.array(mentions, dtype=np.int64).T
    made = replace(
        evidence(names),
        mention_unit=unit,
        mention_sentence=unit,
        mention_entity=entity,
        sentence_unit=np.arange(len(sections)),
        unit_doc=np.array([documents.index(document) for document, _ in sections]),
        unit_kind=["prose"] * len(sections),
        unit_heading=[heading for _, heading in sections],
        titles=documents,
    )
    level = Level.of(made, np.array([0 if name in community else -1 for name in names]), 1)
    return topic_titles(made, [level]).get((0, 0), "")


GULLS, KITES = ["herring gull", "black gull", "gull colony"], ["red kite", "black kite", "kite nest"]


def test_a_title_covers_the_community_though_it_holds_more() -> None:
    sections = {
        ("Gull book", "Herring gull food"): GULLS[:2],
        ("Gull book", "Counts"): [*GULLS, "tide table"],
        ("Gull book", "Ringing"): [*GULLS, "tide table"],
        ("Kite book", "Counts"): KITES,
    }
    assert topic(sections, set(GULLS)) == "Gull book"


def test_a_heading_above_many_sections_is_a_title_only_of_what_all_of_them_name() -> None:
    flags, names = ["--colour", "--depth"], ["Anchor", "Buoy", "Cable", "Dinghy", "Ensign"]
    sections = {(name, "Options inherited from parent commands"): flags for name in names}
    sections |= {(name, "Synopsis"): [name, f"{name} chain"] for name in names}
    assert topic(sections, set(flags)) == "Options inherited from parent commands"
    assert topic(sections, {"Anchor", "Anchor chain"}) == "Anchor"


def test_what_is_named_all_over_is_titled_by_its_name() -> None:
    others = [f"{word} Day" for word in ("Anchor", "Buoy", "Cable", "Dinghy", "Ensign", "Fender")]
    sections = {(other, "First look"): ["Kettlewell", "Kettlewell quay", other] for other in others}
    assert topic(sections, {"Kettlewell", "Kettlewell quay"}) == "Kettlewell"
