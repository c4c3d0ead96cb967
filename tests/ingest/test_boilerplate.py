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
