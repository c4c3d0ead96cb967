"""Communities of whole corpora: what their titles and summaries promise."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path

import pytest

from graphctx.ingest.communities import CommunityEvidence, phrase_summaries
from graphctx.ingest.communities.points import MAX_POINTS
from graphctx.ingest.communities.summarise import COPULAS, KEY_ENTITIES, KEY_FACTS, SUMMARY_SENTENCES, SUMMARY_TOKENS
from graphctx.ingest.embed import Quantised
from graphctx.ingest.report import IngestReport
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.knowledge import CommunitySummary
from graphctx.nlp.llm.asking import Estimate, LlmReport
from graphctx.nlp.llm.citations import Cited
from graphctx.nlp.llm.phrase import CommunityText, Memory, Summaries
from graphctx.nlp.tokens import WordPieceCounter
from graphctx.store.cache import Memo
from graphctx.store.communities import levels_of, read_phrased
from graphctx.store.schema import TABLES
from graphctx.store.snapshot import open_snapshot
from graphctx.store.walk import WalkArrays
from graphctx.text.names import normalise_name, shown_heading, shown_name


class World:
    """The tables of a knowledge base, to look things up in."""

    def __init__(self, kb_dir: Path) -> None:
        with open_snapshot(kb_dir) as snapshot:
            self.communities = snapshot.table("communities").to_pylist()
            self.units = snapshot.table("units").to_pylist()
            self.sentences = snapshot.table("sentences").to_pylist()
            self.facts = {row["id"]: row for row in snapshot.table("facts").to_pylist()}
            self.entities = snapshot.table("entities").to_pylist()
            self.texts, self.titles = (snapshot.table("documents")[name].to_pylist() for name in ("text", "title"))
            mentions = snapshot.table("mentions").to_pylist()
        self.named: dict[int, set[str]] = {}
        for row in mentions:
            self.named.setdefault(row["sentence_row"], set()).add(self.entities[row["entity_row"]]["id"])

    def sentence(self, row: int) -> str:
        found = self.sentences[row]
        text = self.texts[self.units[found["unit_row"]]["doc_row"]]
        return str(text[found["start_char"] : found["end_char"]])


@pytest.fixture(scope="module")
def handbook(handbook_path: Path) -> World:
    return World(handbook_path)


def test_every_sentence_of_a_summary_slices_back_and_names_an_entity_of_the_community(handbook: World) -> None:
    counter = WordPieceCounter()
    assert len(handbook.communities) > 10
    for row in handbook.communities:
        assert len(row["point_rows"]) == len(set(row["point_rows"])) <= MAX_POINTS
        assert set(row["summary_rows"]) <= set(row["point_rows"])
        assert len(row["summary_rows"]) <= SUMMARY_SENTENCES
        said = [handbook.sentence(at) for at in row["summary_rows"]]
        assert row["summary"] == "\n".join([row["title"], *said])
        assert len(said) == 1 or sum(map(counter.count, said)) <= SUMMARY_TOKENS
        assert all(handbook.named[at] & set(row["entity_ids"]) for at in row["point_rows"])
        units = [handbook.units[handbook.sentences[at]["unit_row"]] for at in row["point_rows"]]
        assert not {unit["kind"] for unit in units} & {"code", "table"}
        texts = [" ".join(handbook.sentence(at).casefold().split()) for at in row["point_rows"]]
        assert len(set(texts)) == len(texts)
        assert not any(text.endswith("?") for text in texts)
    assert sum(len(row["summary_rows"]) >= 3 for row in handbook.communities) > 0.8 * len(handbook.communities)


def test_key_entities_and_facts_lie_inside(handbook: World) -> None:
    for row in handbook.communities:
        inside = set(row["entity_ids"])
        assert 3 <= len(row["key_entity_ids"]) <= KEY_ENTITIES
        assert set(row["key_entity_ids"]) <= inside
        assert len(set(row["key_fact_ids"])) == len(row["key_fact_ids"]) <= KEY_FACTS
        for fact in row["key_fact_ids"]:
            assert {handbook.facts[fact]["subject_id"], handbook.facts[fact]["object_id"]} <= inside
        assert row["n_units"] >= 1
        assert (row["phrased"], row["formerly"]) == (None, [])


def test_key_facts_that_only_say_be_stand_alone_and_none_is_told_from_both_ends(handbook: World) -> None:
    for row in handbook.communities:
        facts = [handbook.facts[fact] for fact in row["key_fact_ids"]]
        predicates = {fact["predicate"] for fact in facts}
        assert not predicates & COPULAS or predicates <= COPULAS
        said = [(fact["predicate"], fact["sentence_row"], {fact["subject_id"], fact["object_id"]}) for fact in facts]
        assert all(one not in said[:at] for at, one in enumerate(said))
    told = {
        fact["predicate"] for row in handbook.communities for fact in (handbook.facts[at] for at in row["key_fact_ids"])
    }
    assert len(told - COPULAS) > 10
    assert "be" in {fact["predicate"] for fact in handbook.facts.values()}


def test_a_title_is_a_heading_or_a_title_or_names_none_of_which_is_part_of_another(handbook: World) -> None:
    headings = {unit["heading"].rpartition(" › ")[2] for unit in handbook.units} | set(handbook.titles)
    headings |= {shown_heading(heading) for heading in headings}
    names = {entity["id"]: shown_name(entity["name"]) for entity in handbook.entities}
    for row in handbook.communities:
        if row["title"] in headings:
            continue
        own = {names[entity] for entity in row["entity_ids"]}
        parts = row["title"].split(", ")
        assert 1 <= len(parts) <= 3
        assert row["title"] in own or set(parts) <= own
        words = [set(normalise_name(part).split()) for part in parts]
        assert all(not a <= b for i, a in enumerate(words) for j, b in enumerate(words) if i != j)
    titles = [row["title"] for row in handbook.communities if row["level"] == 0]
    assert sum(title in headings for title in titles) > len(titles) / 2
    assert len(set(titles)) == len(titles)


def test_the_levels_are_reported_in_the_report_and_by_the_status(
    handbook: World, handbook_report: IngestReport, handbook_path: Path
) -> None:
    with open_snapshot(handbook_path) as snapshot:
        levels = levels_of(snapshot.table("communities"))
    assert handbook_report.community_levels == levels
    with KnowledgeBase.open(handbook_path) as kb:
        assert kb.status().community_levels == levels
    assert levels[0].modularity > 0.4
    assert all(one.largest_leaf <= 40 for one in levels)
    assert sum(one.communities for one in levels) == len(handbook.communities)


def leads_to(world: World, one: str) -> set[str]:
    """The communities that an id leads to."""
    return {row["id"] for row in world.communities if one == row["id"] or one in row["formerly"]}


def test_a_reference_survives_a_document_that_comes_and_goes(
    handbook: World, handbook_path: Path, tmp_path: Path
) -> None:
    shutil.copytree(handbook_path, tmp_path / "kb")
    more = tmp_path / "more"
    more.mkdir()
    (more / "note.md").write_text("# A note\n\nThe gulls were loud on Friday.", "utf-8")
    clock = more / "tide-clock.md"
    told = "# The tide clock\n\nTomas Okello-Reyes hung the tide clock in the Winter Desk. Yuki Harrow winds it on Mondays."
    worlds = [handbook]
    with KnowledgeBase.open(tmp_path / "kb") as kb:
        clock.write_text(told, "utf-8")
        assert kb.ingest(more, processes=1).changed
        worlds.append(World(kb.path))
        clock.unlink()
        assert kb.ingest(more, prune=True, processes=1).changed
        worlds.append(World(kb.path))
    for at, before in enumerate(worlds):
        for after in worlds[at + 1 :]:
            ids = {row["id"] for row in before.communities}
            led = [one for one in ids if leads_to(after, one)]
            assert all(len(leads_to(after, one)) == 1 for one in led)
            assert len(led) >= 0.9 * len(ids)
            assert len(ids & {row["id"] for row in after.communities}) >= 0.65 * len(ids)
            for row in before.communities:
                entities = set(row["entity_ids"])
                alike = [set(other["entity_ids"]) for other in after.communities]
                if any(2 * len(entities & other) >= len(entities | other) for other in alike):
                    assert leads_to(after, row["id"])


THEMES = {
    "bakery/ovens.md": "# Copper Oven\n\nThe Copper Oven bakes the rye bread of Hanne Bruun. Hanne Bruun lights the Copper Oven "
    "at four. The Copper Oven was built in Aarfjord for the rye bread.\n",
    "bakery/bread.md": "# Rye bread\n\nHanne Bruun sells rye bread on the Aarfjord market. The Copper Oven gives the rye bread "
    "its crust. Hanne Bruun learned of rye bread in Aarfjord.\n",
    "bakery/market.md": "# Aarfjord market\n\nThe Aarfjord market opens on Saturdays. Hanne Bruun rents a stall on the Aarfjord market.\n",
    "rail/signal.md": "# Signal box\n\nOtto Lindqvist works the Signal box of the Velden Line. The Signal box sets the points of the "
    "Velden Line. Otto Lindqvist painted the Signal box.\n",
    "rail/line.md": "# Velden Line\n\nThe Velden Line runs past the Signal box to the Brakke tunnel. Otto Lindqvist closes the Brakke "
    "tunnel when the Velden Line floods.\n",
    "rail/tunnel.md": "# Brakke tunnel\n\nThe Brakke tunnel floods in March. Otto Lindqvist pumps the Brakke tunnel for the Velden Line.\n",
}


def test_communities_of_two_themes_are_titled_by_their_own_names(make_kb: Callable[..., KnowledgeBase]) -> None:
    found = World(make_kb(THEMES).path).communities
    bakery = {"Copper Oven", "Hanne Bruun", "rye bread", "Rye bread", "Aarfjord", "Aarfjord market"}
    rail = {"Signal box", "Otto Lindqvist", "Velden Line", "Brakke tunnel"}
    sides = set()
    for row in found:
        parts = set(row["title"].split(", "))
        assert parts <= bakery or parts <= rail, row["title"]
        sides.add(parts <= rail)
        text = row["summary"]
        assert ("Hanne Bruun" in text) != ("Otto Lindqvist" in text)
    assert sides == {True, False}


@pytest.mark.parametrize(
    "files",
    [{"a.md": "x"}, {"a.md": "# Gate\n\nThe Harbour Gate opens."}],
)
def test_a_corpus_without_themes_has_none(make_kb: Callable[..., KnowledgeBase], files: dict[str, str]) -> None:
    world = World(make_kb(files).path)
    assert world.communities == []


class Model:
    """A summariser that does as it is told."""

    name = "model"
    fingerprint = "model 1"

    def __init__(self, answer: Callable[[Sequence[CommunityText]], Sequence[Sequence[Cited]]]) -> None:
        self.answer = answer

    def estimate(self, communities: Sequence[CommunityText], memory: Memory) -> Estimate:
        raise AssertionError("only a dry run estimates")

    def summarise(
        self, communities: Sequence[CommunityText], memory: Memory, on_done: Callable[[int, int], None]
    ) -> Summaries:
        texts = tuple(tuple(cited) for cited in self.answer(communities))
        return Summaries(texts, LlmReport(self.name, len(communities), 0, len(texts), 0, 0, 0, 0.0, ()))


def refuse(communities: Sequence[CommunityText]) -> list[list[Cited]]:
    raise OSError("connection refused")


def on_title(community: CommunityText, *cites: int) -> list[Cited]:
    return [Cited(f"On {community.title}.", cites)]


@pytest.mark.parametrize(
    ("answer", "phrased"),
    [
        (refuse, 0),
        (lambda communities: [], 0),
        (lambda communities: [[Cited(" ", (0,))]] * len(communities), 0),
        (lambda communities: [on_title(one, 99) for one in communities], 0),
        (lambda communities: [on_title(one) for one in communities], 0),
        (lambda communities: [[], *(on_title(one, 1) for one in communities[1:])], 1),
        (lambda communities: [on_title(one, 0, 1) for one in communities], 2),
    ],
)
def test_what_a_language_model_does_not_phrase_stays_extractive_and_what_it_does_keeps_its_citations(
    handbook_path: Path,
    answer: Callable[[Sequence[CommunityText]], Sequence[Sequence[Cited]]],
    phrased: int,
) -> None:
    with open_snapshot(handbook_path) as snapshot:
        vectors = Quantised(snapshot.matrix("sentences"), snapshot.matrix("sentence_scale"))
        arrays = WalkArrays.from_dict(snapshot.arrays())
        tables = {name: snapshot.table(name) for name in TABLES}
        texts = tables["documents"]["text"].to_pylist()
        evidence = CommunityEvidence.of(tables, texts, arrays, vectors)
    names = [field.name for field in fields(CommunitySummary)]
    rows = tables["communities"].select(names).to_pylist()
    extractive = [CommunitySummary(**row) for row in rows if len(row["summary_rows"]) > 1][:2]
    with Memo(Path(":memory:")) as memo:
        made, report = phrase_summaries(extractive, evidence, Model(answer), memo, lambda done, total: None)
    assert report.asked == 2
    assert [replace(one, phrased=None) for one in made] == extractive
    said = [(one, read_phrased(one.phrased)) for one in made]
    assert sum(bool(sentences) for _, sentences in said) == phrased
    for one, sentences in said:
        assert [sentence.text for sentence in sentences] in ([], [f"On {one.title}."])
        for sentence in sentences:
            assert sentence.rows
            assert set(sentence.rows) <= set(one.summary_rows)
