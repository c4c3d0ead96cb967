import json
from collections.abc import Callable

from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.requests import DescribeInput

FOOTER = "Made by Quillpress on a Tuesday"
NAMES = ("Gate", "Lamp", "Rope", "Sail", "Tide", "Wharf", "Yard")


def test_a_line_at_the_end_of_many_pages_is_no_evidence(make_kb: Callable[..., KnowledgeBase]) -> None:
    pages = {
        f"{name}.md": f"# {name}\n\nThe {name} of Port Averil is kept by Ada Poe.\n\nStatus: open\n\n{FOOTER}\n"
        for name in NAMES
    }
    pages["Quillpress.md"] = "# Press\n\nQuillpress is printed in Oslo. Quillpress is sold by Ada Poe.\n"
    kb = make_kb(pages)
    quotes = [quote.quote for quote in kb.retrieve_evidence("What is made by Quillpress on a Tuesday?").quotes]
    assert quotes
    assert not any(FOOTER in quote for quote in quotes)
    assert any("Status: open" in quote.quote for quote in kb.retrieve_evidence("Which status has the Lamp?").quotes)
    [press] = kb.searcher().graph.describe(DescribeInput(node_ids=["Quillpress"])).items
    assert press.n_units == 1


def test_a_line_that_differs_in_its_date_alone_is_the_same(make_kb: Callable[..., KnowledgeBase]) -> None:
    changed = [f"Last changed on 2024-03-0{day} at 1{day}:00 by the press" for day in range(len(NAMES))]
    kb = make_kb(
        {
            f"{name}.md": f"# {name}\n\nThe {name} is kept by Ada Poe.\n\n{line}\n"
            for name, line in zip(NAMES, changed, strict=True)
        }
    )
    quotes = [quote.quote for quote in kb.retrieve_evidence("When was the Gate last changed by the press?").quotes]
    assert not any("changed" in quote for quote in quotes)


def test_what_rows_and_pages_without_a_sentence_repeat_is_evidence(make_kb: Callable[..., KnowledgeBase]) -> None:
    rows = [{"title": f"{name} lamp", "text": "Sold in Norway only"} for name in NAMES]
    pages = {f"{name}.md": f"# {name} rope\n\nMade in Denmark only\n" for name in NAMES}
    kb = make_kb({"lamps.jsonl": "\n".join(map(json.dumps, rows)), **pages})
    for question, fact in [("Where is the Sail lamp sold?", "Norway"), ("Where is the Sail rope made?", "Denmark")]:
        assert any(fact in quote.quote for quote in kb.retrieve_evidence(question).quotes)
