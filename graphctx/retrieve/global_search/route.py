"""Whether a question asks for the whole: told by its wording alone, in favour of no.

A question about one thing that is answered from everywhere loses its answer; one about the whole that is answered
locally still gets the best passages. So a question goes the global way only where its wording says so clearly: by one
plain sign, or by several faint ones, and less so the more of it is names, numbers and identifiers.
"""

from __future__ import annotations

import re

from graphctx.text.lexical import STOPWORDS, terms, words

PLAIN, FAINT = 1.0, 0.5
"""What a sign is worth. A question asks for the whole from `PLAIN` on."""

_NAMED = 0.5
"""What each thing that is called by its name takes away, up to two."""

_THEMES = r"(?:themes?|topics?|subjects|trends?|patterns?|ideas|messages|takeaways?|lessons|strands|concerns)"
_NOUNS = (
    r"(?:issues|points|challenges|problems|risks|causes|reasons|findings|conclusions|decisions"
    r"|weakness(?:es)?|strengths|differences|similarities|areas|responsibilities|concepts|goals|priorities"
    r"|dependencies|kinds|types|groups|parts|changes|developments|events|factors|practices)"
)
_BODY = (
    r"(?:documents?|documentation|docs|corpus|collection|knowledge base|texts|notes|records|reports|files|archive"
    r"|handbook|manual|guide|wiki|book|data ?set|sources|library)"
)
_GROUP = r"(?:organi[sz]ation|company|teams|project|community|institution|business|firm|departments|staff|people)"
_MAIN = (
    r"(?:main|major|key|central|overall|overarching|recurring|recurrent|common|dominant|general|principal"
    r"|most (?:common|frequent|important|significant))"
)
_THE = r"(?:the|this|these|our|their)"

_PLAIN = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # what stands out in all of it
        rf"\b{_MAIN}\s+(?:\w+\s+)?{_THEMES}\b",
        rf"\b{_MAIN}\s+(?:\w+\s+)?{_NOUNS}(?:\s+(?:here|overall|(?:of|in|across)\s+{_THE}\s+(?:\w+\s+)?(?:{_BODY}|{_GROUP})))?\W*$",
        r"\b(?:themes|trends|takeaways|big picture|commonalities)\b|\boverall,|\bin a nutshell\b",
        rf"\b(?:summari[sz]e|sum up|(?:summary|overview|synopsis)\s+of)\s+"
        rf"(?:all\b|everything\b|what\b|how\b|{_THE}\s+(?:\w+\s+)?(?:{_BODY}|{_GROUP}|{_MAIN}|{_THEMES})\b)",
        # all of it, side by side
        r"\bacross\s+(?:all|the\s+(?:whole|entire|various|different|several)|every|different|multiple|several|many"
        rf"|(?:{_THE}\s+)?(?:{_BODY}|teams|departments|projects|years|systems))\b",
        rf"\bthroughout\s+{_THE}\s+(?:\w+\s+)?{_BODY}\b|\b(?:whole|entire)\s+(?:\w+\s+)?(?:{_BODY}|{_GROUP})\b",
        r"\b(?:taken|looked at|looking at|considered)\b[^,?.]*\b(?:together|all)\b",
        r"\b(?:again and again|time and again|time after time|over and over)\b|\brecurs?\b",
        r"\bkeeps?\s+(?:coming|happening|turning|returning|appearing|failing|recurring)\b",
        rf"\b(?:what|which)\s+{_THEMES}\s+(?:emerge|stand out|run through|can be (?:seen|found|made out))\b",
        rf"\bwhat\s+(?:is|are)\s+{_THE}\s+(?:\w+\s+)?{_BODY}\s+(?:\w+\s+)?about\b",
        # how it came to be as it is
        r"\bin the (?:course|space) of\b|\bover the (?:(?:past|last)\b[^?]*\byears|course of)\b"
        r"|\bin (?:recent|the (?:last|past) (?:few |several |\w+ )?)\s*(?:years|decades)\b|\bfrom year to year\b",
        r"\bwhat\b[^?.]*\b(?:got|gotten|has become|became)\s+(?:better|worse|easier|harder)\b",
        r"\b(?:how(?!\s+(?:much|many))|what)\b[^?.]*\b(?:changed|evolved|shifted)\s+"
        r"(?:over|during|throughout|across|in the (?:course|last|past))\b",
        # who with whom, each with each
        r"^\W*(?:who|which)(?:\s+\w+){1,6}\s+(?:what|whom|which|who)\W*$"
        r"|^\W*which(?:\s+\w+){2,6}\s+which\s+\w+\W*$",
        r"\b(?:what|how|which)\b[^?.]*\beach\s+(?:one|of\s+(?:them|these|the))\b",
        r"\bhave\b[^?.]*\bin common\b|\b(?:compare|contrast)\s+(?:all|the\s+(?:different|various))\b",
    )
)
_FAINT = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # several things are asked for, none of them by name
        r"^\W*(?:on |for |in |to |from )?(?:which|what)\s+(?:(?!of\b)\w+,?\s+){0,5}?(?!(?:was|is|has|does)\b)\w+s\s+"
        r"(?:have|are|were|do|exist|come|turn|keep|and which)\b",
        r"\b(?:what|which)\s+(?:are|were)\s+(?:all\s+(?:of\s+)?the|the\s+(?:different|various))\b|\blist\s+(?:all|every)\b",
        rf"\b{_MAIN}\s+(?:\w+\s+)?{_NOUNS}\b|\b(?:summary|overview|synopsis)\s+of\b|\bsummari[sz]e\b",
        # one question after the other
        r"(?:,|\band)\s+(?:\w+\s+)?(?:what|which|who|how|why|where)\b[^?]*\?|\band\s+why\W*$",
        r"(?:what|which|who|how|why|where)\b[^?]*,\s+(?:what|which|who|how|why|where)\b[^?]*\band\s+"
        r"(?:what|which|who|how|why|where)\b",
        r"\bwhat (?:prompted|lay behind|turned out to be behind)\b",
        # how things go for a group as a whole
        rf"\b(?:do|does|did|has|have|is|are)\s+{_THE}\s+{_GROUP}\b",
        r"^\W*how\s+(?:do|does)\b(?![^?]*\b(?:a|an|i|you|we|one)\b)|^\W*what\s+is\s+(?:being\s+)?done\b",
        r"\b(?:in general|generally|usually|as a rule|on the whole|most (?:often|of all)|over the years)\b",
        r"\bdiffer\b|\bwhat (?:has |have )?changed\b|\bdepends? on\b|\beach\b|\ball\s+(?:of\s+)?(?:the\s+)?\w+s\b",
        rf"\b(?:in|of|across|by|from)\s+{_THE}\s+(?:\w+\s+){{0,2}}{_BODY}\b",
    )
)
_NAME = re.compile(r"(?<!^)(?<![.?!]\s)\b[A-Z][\w’']*(?:[\s-]+(?:(?:of|the|de|van|von)\s+)?[A-Z][\w’']*)*")
_CODE = re.compile(
    r"`[^`]+`|\"[^\"]+\"|“[^”]+”|\b(?=[\w./:-]*?\w[._/:]\w)\w++(?:[./:-]+\w++)*|--\w+|\b\w*[a-z][A-Z]\w*\b|\b\d[\d.,:]*\b"
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")

_SAYS = r"(?:about|address|contain|cover|deal|discuss|say|talk|treat)(?:s|ed|ing)?"
_WHOLE = re.compile(
    rf"\b(?:overview|summary|synopsis|summari[sz]e|sum\s+up|everything|{_THEMES}|big picture|nutshell|all about)\b"
    rf"|\b{_MAIN}\s+(?:\w+\s+)?{_NOUNS}\b|\b{_BODY}\b.*\b{_SAYS}\b|\b{_SAYS}\b.*\b{_BODY}\b",
    re.IGNORECASE,
)
"""What asks for the whole if nothing is named beside it; *What is this?* does not."""

_EMPTY = frozenset(
    term
    for word in (
        "main major key central overall overarching recurring common dominant general principal important significant "
        "whole entire all every big picture theme topic subject issue idea point trend pattern summary summarise "
        "summarize overview sum give tell show list describe explain cover discuss treat contain talk say deal mention "
        "address find document documentation docs corpus collection knowledge base text note file archive handbook "
        "dataset data material source library content information throughout across most here stand please takeaway "
        "thing everything kind type briefly brief short together"
    ).split()
    for term in terms(word)
)
"""Words that ask for the whole, or name nothing but it."""


def asks_for_the_whole(question: str) -> bool:
    """Whether a question is about the whole of the documents rather than about something in them.

    Cheap and deterministic: a few dozen patterns over one sentence, in English.
    """
    if asks_for_everything(question):
        return True
    text = " ".join(question.split())
    value = PLAIN * any(pattern.search(text) for pattern in _PLAIN)
    value += FAINT * sum(bool(pattern.search(text)) for pattern in _FAINT)
    without_years = _YEAR.sub("", text)
    names = [] if text.isupper() else _NAME.findall(without_years)
    named = len(names) + len(_CODE.findall(without_years))
    return value - _NAMED * min(named, 2) >= PLAIN


def asks_for_everything(question: str) -> bool:
    """Whether a question for the whole names nothing at all that it is about: *What are the main themes?*"""
    named = [word for word in words(question) if word not in STOPWORDS]
    return bool(_WHOLE.search(question)) and all(term in _EMPTY for word in named for term in terms(word))
