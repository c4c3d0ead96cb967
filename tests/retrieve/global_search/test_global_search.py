"""Points of a global search, on the handbook and on small corpora."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.answers import GlobalAnswer
from graphctx.model.requests import CommunitiesInput
from graphctx.nlp.tokens import AnswerCounter

Make = Callable[..., KnowledgeBase]

REPO = Path(__file__).resolve().parents[3]
QUESTIONS = [
    json.loads(line)["question"]
    for line in (REPO / "eval" / "golden" / "handbook_global.jsonl").read_text("utf-8").splitlines()
]
COUNT = AnswerCounter().count

NAVY = {
    f"navy/{name.lower()}.md": f"# {name}\n\n{name} is a ship of the Northern Fleet. {name} was built in Harwick by "
    f"Odell and Sons. Captain {captain} commands {name} since the refit in Harwick.\n\nThe Northern Fleet pays Odell and "
    f"Sons for each refit. {captain} reports to Admiral Brandt of the Northern Fleet.\n"
    for name, captain in (("Petrel", "Ruth Amsel"), ("Gannet", "Ole Finch"), ("Osprey", "Ida Drossel"))
}
CHEESE = {
    f"cheese/{name.lower()}.md": f"# {name}\n\n{name} is a cheese of the Almtal Dairy. {name} is salted in Steinach by "
    f"Korbinian Moser. The Almtal Dairy sells {name} to the Hofladen in Steinach.\n\nKorbinian Moser learned from the "
    f"Almtal Dairy how {name} is turned. The Hofladen in Steinach stores {name} in a cold cellar.\n"
    for name in ("Almkas", "Steinling", "Weichsel")
}


def check(kb: KnowledgeBase, answer: GlobalAnswer, *, tokens: int = 1000, longest: int = 80) -> None:
    """What holds for every answer."""
    for point in answer.points:
        assert kb.document(point.doc_uri).text[point.start_char : point.end_char] == point.quote
        assert COUNT(point.quote) <= longest
        assert len(point.quote) <= 500
        assert 0 <= point.rating <= 1
    assert sum(COUNT(point.quote) for point in answer.points) <= tokens
    assert len({(point.doc_uri, point.start_char) for point in answer.points}) == len(answer.points)
    told = answer.diagnostics
    assert told.descended <= told.rated <= told.communities
    assert told.dropped <= told.rated
    assert {theme.id for theme in answer.themes} == {point.community_id for point in answer.points} - {""}
    assert [theme.rating for theme in answer.themes] == sorted((theme.rating for theme in answer.themes), reverse=True)
    assert bool(answer.points) == (answer.empty_reason is None)
    assert answer.extractive == (not answer.phrased)


@pytest.mark.parametrize("tokens", [50, 500, 1000])
def test_points_are_exact_and_keep_to_their_budget(handbook_kb: KnowledgeBase, tokens: int) -> None:
    for question in QUESTIONS[::3]:
        answer = handbook_kb.global_search(question, points_tokens=tokens, max_points=100)
        check(handbook_kb, answer, tokens=tokens)
        assert answer.points
        if tokens > 50:  # most of it is used
            assert sum(COUNT(point.quote) for point in answer.points) >= 0.9 * tokens


def test_points_keep_to_their_number_and_length(handbook_kb: KnowledgeBase) -> None:
    for question in QUESTIONS[::4]:
        answer = handbook_kb.global_search(question, max_points=5, max_point_tokens=12)
        check(handbook_kb, answer, longest=12)
        assert len(answer.points) == 5
        assert answer.truncated == any(point.truncated for point in answer.points)


def test_no_more_communities_are_rated_than_may_be(handbook_kb: KnowledgeBase) -> None:
    for question in QUESTIONS[::4]:
        few = handbook_kb.global_search(question, relevance_tests=4)
        check(handbook_kb, few)
        assert few.diagnostics.rated <= 4
        assert few.points


def test_points_come_from_many_documents(handbook_kb: KnowledgeBase) -> None:
    answers = [handbook_kb.global_search(question).points for question in QUESTIONS]
    documents = [len({point.doc_uri for point in points}) for points in answers]
    assert min(documents) >= 4
    assert sum(number >= 5 for number in documents) >= 0.9 * len(QUESTIONS)


def test_a_question_for_everything_gets_points_of_the_largest_communities(handbook_kb: KnowledgeBase) -> None:
    answer = handbook_kb.global_search("What are the main themes?")
    check(handbook_kb, answer)
    assert len(answer.themes) >= 8
    assert all(theme.level == 0 for theme in answer.themes)
    assert len({point.community_id for point in answer.points[:12]}) >= 8  # theme by theme
    about = {theme.title: theme.id for theme in answer.themes}["Almanac"]
    assert next(p.quote for p in answer.points if p.community_id == about).startswith("Almanac is the Coop's memory")
    for theme in answer.themes:
        assert 3 <= len(theme.names) <= 5
        assert 1 <= len(theme.documents) <= 3
        below = handbook_kb.searcher().communities(CommunitiesInput(parent_id=theme.id)).items
        assert len(below) == theme.n_children
    assert answer.points[0].doc_uri == "index.md"  # what introduces all of it comes first
    assert answer.points[0].quote.startswith("The Fulmar Ocean Weather Cooperative (FOWC) keeps 38 moored buoys")


def test_what_introduces_comes_before_details(make_kb: Make) -> None:
    detail = "The winch of {name} was greased on 4 May with two spoons of tallow from the second shelf."
    kb = make_kb(
        {
            **{uri: text + "\n" + detail.format(name=uri) + "\n" for uri, text in NAVY.items()},
            "about/overview.md": "# Overview\n\nThe Northern Fleet is a club of old ships in Harwick.\n",
        }
    )
    for question in ("Give me an overview", "What is this documentation about?"):
        quotes = [point.quote for point in kb.global_search(question, max_points=4).points]
        assert "is a club of old ships" in quotes[0]
        assert not any("tallow" in quote for quote in quotes)


def test_a_point_has_a_theme_only_where_its_passage_is_about_it(handbook_kb: KnowledgeBase) -> None:
    searcher = handbook_kb.searcher()
    walk, communities = searcher.index.walk, searcher.graph.tables.communities
    themed, bare = 0, 0
    for question in QUESTIONS[::4]:
        for point in handbook_kb.global_search(question).points:
            unit = searcher.index.unit_row(point.section_id)
            named = set(walk.pair_entity[walk.unit_pair[unit] : walk.unit_pair[unit + 1]].tolist())
            row = communities.row(point.community_id)
            if row is None:
                bare += 1
            else:
                themed += 1
                assert len(named & set(communities.entities[row].tolist())) >= max(2, 0.4 * len(named))
    assert themed > 20
    assert bare > 20


def test_nothing_is_reported_of_what_the_documents_do_not_treat_of(handbook_kb: KnowledgeBase) -> None:
    for question in (
        "Which enzymes catalyse photosynthesis, and which inhibitors poison each of them?",
        "asdfgh qwerty zxcv",
        "Which baroque violinists recorded polyphonic sonatas, and with which harpsichordists?",
    ):
        answer = handbook_kb.global_search(question)
        check(handbook_kb, answer)
        assert answer.empty_reason == "no_evidence"


def test_what_is_in_no_community_is_reported_too(make_kb: Make) -> None:
    kb = make_kb({**NAVY, "moss.md": "The moss on the old sundial is trimmed every third spring by hand.\n"})
    answer = kb.global_search("What is done about moss, and by whom?")
    check(kb, answer)
    assert any("moss" in point.quote for point in answer.points)


def test_a_corpus_without_communities_still_gives_points(make_kb: Make) -> None:
    kb = make_kb({"moss.md": "The moss on the old sundial is trimmed every third spring by hand.\n"})
    answer = kb.global_search("What is done about moss, and by whom?")
    check(kb, answer)
    assert [point.community_id for point in answer.points] == [""]
    assert answer.diagnostics.communities == 0


def test_points_grow_by_their_neighbours_where_there_may_be_no_more_of_them(handbook_kb: KnowledgeBase) -> None:
    few = handbook_kb.global_search(QUESTIONS[0], max_points=6, points_tokens=300)
    check(handbook_kb, few, tokens=300)
    alone = handbook_kb.global_search(QUESTIONS[0], max_points=6, points_tokens=200)
    assert len(few.points) == 6
    weights = [sum(COUNT(point.quote) for point in answer.points) for answer in (alone, few)]
    assert weights[1] >= 270 > weights[0]
    spans = sorted((point.doc_uri, point.start_char, point.end_char) for point in few.points)
    assert all(one[0] != other[0] or one[2] <= other[1] for one, other in pairwise(spans))


def test_what_is_said_twice_is_reported_once(make_kb: Make) -> None:
    said = "The Northern Fleet pays Odell and Sons for each refit in Harwick."
    kb = make_kb(
        {f"{name}.md": f"# {name}\n\n{name} is a ship.\n\n{said}\n" for name in ("Petrel", "Gannet", "Osprey")}
    )
    quotes = [point.quote for point in kb.global_search("Who pays for the refits of all ships?").points]
    assert quotes.count(said) == 1


def test_the_answer_within_a_scope_does_not_depend_on_what_hidden_documents_say_of_other_things(
    make_kb: Make,
) -> None:
    question = "Who commands, builds and pays for all the ships?"
    scope = {"repositories": ["navy"]}
    one = make_kb({**NAVY, **CHEESE}, "one").global_search(question, scope=scope)
    changed = {uri: text.replace("cold cellar", "barn with a tin roof") for uri, text in CHEESE.items()}
    two = make_kb({**NAVY, **changed}, "two").global_search(question, scope=scope)
    assert [(p.quote, p.rating) for p in one.points] == [(p.quote, p.rating) for p in two.points]
    assert [(t.title, t.rating) for t in one.themes] == [(t.title, t.rating) for t in two.themes]


def test_an_empty_answer_says_why(make_kb: Make, tmp_path: Path) -> None:
    question = "What are the main themes?"
    with KnowledgeBase.open(tmp_path / "fresh", create=True) as fresh:
        assert fresh.global_search(question).empty_reason == "no_snapshot"
    kb = make_kb(NAVY)
    assert kb.global_search(question, scope={"repositories": ["moon"]}).empty_reason == "nothing_in_scope"
    filtered = kb.global_search(question, filters={"path_prefix": "moon/"})
    assert (filtered.empty_reason, filtered.filtered_by) == ("filtered_out", ["filters.path_prefix"])


@pytest.mark.parametrize("question", QUESTIONS[:2])
def test_evidence_is_answered_locally_whatever_is_asked(handbook_kb: KnowledgeBase, question: str) -> None:
    answer = handbook_kb.retrieve_evidence(question, include_diagnostics=True)
    assert answer == handbook_kb.retrieve_evidence(question, mode="hybrid_local", include_diagnostics=True)


def test_a_local_question_loads_no_communities(handbook_path: Path, python: Callable[..., str]) -> None:
    said = python(
        "import sys\n"
        "from graphctx.knowledge_base import KnowledgeBase\n"
        "with KnowledgeBase.open(sys.argv[1]) as kb:\n"
        "    kb.retrieve_evidence('Who leads the Telemetry team?')\n"
        "print([name for name in ('graphctx.retrieve.graph.communities', 'graphctx.nlp.llm', 'openai')"
        " if name in sys.modules])\n",
        handbook_path,
    )
    assert said.strip() == "[]"


def test_a_point_that_opens_with_a_pronoun_begins_with_what_it_stands_for(make_kb: Make) -> None:
    kb = make_kb(
        {
            "ferries.md": "# Ferries\n\nThe ferries of Skerrick are painted red. They carry mail and sheep to the islands in "
            "winter.\n\n## Crew\n\nThey carry mail and sheep to the islands in summer too, and no one minds.\n"
        }
    )
    points = kb.global_search("How do mail and sheep get to the islands?").points
    assert [point.quote.startswith("The ferries") and "in winter" in point.quote for point in points] == [True]


def test_a_point_is_no_lead_in_and_no_pointer(make_kb: Make) -> None:
    kb = make_kb(
        {
            "ferries.md": "# Ferries\n\nThe ferries of Skerrick carry to the islands:\n\n- mail and sheep of the islands\n"
            "- the doctor of the islands\n\nFor more on what ferries carry, see [Mail to the islands](mail.md).\n",
            "mail.md": "# Mail\n\nThe mail to the islands leaves Skerrick on Mondays.\n",
        }
    )
    points = [point.quote for point in kb.global_search("What do ferries carry to the islands?").points]
    assert any("mail and sheep" in quote for quote in points)
    assert not any(quote.endswith(":") or "see [" in quote for quote in points)
