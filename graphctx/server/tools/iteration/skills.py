"""get_skills: lessons, by their usefulness."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from graphctx.model.answers import Answer
from graphctx.model.pages import Part
from graphctx.model.requests import Label
from graphctx.server.call_context import CallContext
from graphctx.server.render import counted, one_line, quoted
from graphctx.server.tool import Description, Reply, Tool
from graphctx.server.tools.memory.base import (
    DATA_NOTE,
)

if TYPE_CHECKING:
    pass
from graphctx.server.tools.iteration.base import IterationListAnswer, IterationListInput, client_of, list_reply


class SkillsInput(IterationListInput):
    """Arguments of get_skills."""

    tags: list[Label] | None = Field(None, max_length=50, description="Only skills with one of these tags.")
    min_score: float = Field(0.5, ge=0, le=1, description="Least usefulness.")


class Skill(Answer):
    """A lesson, and what it was worth."""

    SILENT: ClassVar[frozenset[str]] = frozenset({"tags", "source", "skill_id"})

    id: str = Field(description="For mark_useful.")
    content: str
    tags: list[str] = Field([], description="Of a skillbook: its section.")
    source: str = ""
    skill_id: str | None = Field(None, description="Its id in the skillbook.")
    usefulness_score: float
    helpful: int = Field(description="How often mark_useful said so.")
    harmful: int
    created_at: str


class SkillsAnswer(IterationListAnswer):
    """Output of get_skills."""

    skills: list[Skill] = Field(description="The most useful first.")
    total: int


def _get_skills(context: CallContext, asked: SkillsInput) -> Reply[SkillsAnswer]:
    found = client_of(context, asked).get_skills(asked.tags, asked.min_score)

    def build(part: Part[Skill]) -> SkillsAnswer:
        return SkillsAnswer(skills=part.items, total=found["total"], degraded=found["degraded"], **part.fields)

    def render(answer: SkillsAnswer) -> list[str]:
        if not answer.skills:
            return ["There are no such skills."]
        start = f"{len(answer.skills)} of {counted(answer.total, 'skill')}. {DATA_NOTE}"
        return [
            start,
            *(
                f"{each.id}, usefulness {each.usefulness_score:.2f}"
                + (f", {', '.join(map(one_line, each.tags))}" if each.tags else "")
                + f"\n{quoted(each.content)}"
                for each in answer.skills
            ),
        ]

    return list_reply(context, asked, [Skill(**each) for each in found["skills"]], build, render, "get_skills")


GET_SKILLS = Tool(
    name="get_skills",
    toolset="iteration",
    title="List learned skills",
    description=Description(
        use_when="you want all lessons of a topic, those of the skillbook too.",
        not_when="you want those that bear on a task: get_relevant_context with context_types skill.",
        returns="skills of usefulness {min_score} and above, the most useful first, within {response}.",
        follow_up="call mark_useful with the id of one that helped or misled.",
    ),
    input=SkillsInput,
    output=SkillsAnswer,
    run=_get_skills,
)
