"""Reference documentation in Markdown files: commands with flags, settings, error codes, functions, releases, guides.

Every flag belongs to several commands with a default of its own, and every error names a setting that is explained
elsewhere, so that words alone lead to many wrong places.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from eval.synthetic.reference_phrases import (
    ASK_GLOSSARY,
    COMMANDS,
    ERRORS,
    FLAGS,
    FUNCTIONS,
    GLOSSARY,
    GUIDES,
    NEVER,
    RETURNS,
    SETTINGS,
)
from eval.synthetic.writing import Collection, Dice, Fact, Page, said

RELEASES = tuple(f"{major}.{minor}" for major in (1, 2, 3) for minor in range(8))


@dataclass(slots=True)
class Manual:
    """What was written so far, for the questions: the fact and the value of each thing that can be asked for."""

    dice: Dice
    collection: Collection
    facts: dict[tuple[str, ...], tuple[Fact, str]] = field(default_factory=dict)

    def tell(self, key: tuple[str, ...], page: Page, text: str, value: str, joint: str = "\n") -> None:
        self.facts[key] = (said(page, text, joint), value)


def make(name: str) -> Collection:
    """Return a set of about 80 files and 100 questions."""
    manual = Manual(Dice("reference"), Collection(name, files=True))
    _commands(manual)
    _settings(manual)
    _errors(manual)
    _functions(manual)
    _releases(manual)
    _others(manual)
    _ask(manual)
    return manual.collection


def _commands(manual: Manual) -> None:
    dice = manual.dice
    for number, (command, does) in enumerate(COMMANDS.items()):
        page = manual.collection.page(f"commands/{command}.md")
        page.say(f"# fer {command}")
        page.say(f"`fer {command}` {does}.", "\n\n")
        page.say(f"```\nfer {command} [flags] QUEUE\n```", "\n\n")
        page.say("## Flags", "\n\n")
        table = number % 3 == 0
        if table:
            page.say("| Flag | Default | Meaning |\n|---|---|---|", "\n\n")
        for at, flag in enumerate(dice.some(sorted(FLAGS), 5)):
            unit, meaning, _, (low, high, step) = FLAGS[flag]
            value = str(dice.between(low // step, high // step) * step)
            if table:
                text = f"| `--{flag} {unit}` | {value} | {meaning} |"
            elif number % 3 == 1:
                text = f"- `--{flag} {unit}`: {meaning}. Default: {value}."
            else:
                text = f"**`--{flag} {unit}`** – {meaning} ({value} unless given)."
            manual.tell(("flag", command, flag), page, text, value, "\n" if table or at else "\n\n")
        page.say("## See also", "\n\n")
        others = dice.some([other for other in COMMANDS if other != command], 2)
        page.say(", ".join(f"[fer {other}]({other}.md)" for other in others) + ".", "\n\n")


def _settings(manual: Manual) -> None:
    dice = manual.dice
    for group in dict.fromkeys(key.split(".")[0] for key in SETTINGS):
        page = manual.collection.page(f"settings/{group}.md")
        page.say(f"# Settings of the {group} group")
        page.say(f"They stand in the `[{group}]` table of `ferrule.toml` and are read at start.", "\n\n")
        for key in (key for key in SETTINGS if key.startswith(f"{group}.")):
            default = dice.between(2, 40)
            limit = default * dice.between(3, 25)
            page.say(f"## `{key}`", "\n\n")
            page.say(f"{SETTINGS[key][0].capitalize()}.", "\n\n")
            manual.tell(("default", key), page, f"It is {default} at first.", str(default), " ")
            manual.tell(("limit", key), page, f"Values above {limit} are refused.", str(limit), " ")


def _errors(manual: Manual) -> None:
    codes = manual.dice.some(range(100, 999), len(ERRORS))
    pages = {kind: manual.collection.page(f"errors/{kind}.md") for kind in ("client", "server", "storage")}
    for kind, page in pages.items():
        page.say(f"# {kind.capitalize()} errors")
        page.say("Each has a code that never changes, whatever the language of the message.", "\n\n")
    for at, (key, (short, seen, _)) in enumerate(ERRORS.items()):
        page = pages[tuple(pages)[at % 3]]
        code = f"FE-{codes[at]}"
        page.say(f"## {code}: {short}", "\n\n")
        manual.tell(("seen", key), page, f"{code} shows when {seen}.", code, "\n\n")
        manual.tell(("remedy", key), page, f"Change `{key}` and restart the courier.", key, " ")


def _functions(manual: Manual) -> None:
    dice = manual.dice
    for module, functions in FUNCTIONS.items():
        page = manual.collection.page(f"api/{module}.md")
        page.say(f"# Module `{module}`")
        for function in functions:
            key = dice.pick(sorted(ERRORS))
            code = manual.facts["seen", key][1]
            result, since = dice.pick(RETURNS), dice.pick(RELEASES)
            page.say(f"## `{module}.{function}(name, *, wait={dice.between(1, 9)})`", "\n\n")
            manual.tell(("returns", module, function), page, f"Gives back {result}.", result, "\n\n")
            manual.tell(("raises", module, function), page, f"Raises {code}.", key, " ")
            manual.tell(("since", module, function), page, f"Available from {since} on.", since, " ")


def _releases(manual: Manual) -> None:
    dice = manual.dice
    flags = dice.shuffled([key for key in manual.facts if key[0] == "flag"])
    for at, release in enumerate(RELEASES):
        page = manual.collection.page(f"releases/{release.replace('.', '-')}.md")
        page.say(f"# Ferrule {release}")
        page.say(f"Released in the {('spring', 'summer', 'autumn', 'winter')[at % 4]} of {2019 + at // 4}.", "\n\n")
        for number, (_, command, flag) in enumerate(flags[2 * at : 2 * at + 2]):
            text = f"- New in {release}: `fer {command}` knows `--{flag}`."
            manual.tell(("added", command, flag), page, text, release, "\n" if number else "\n\n")
        page.say(f"- {dice.between(4, 40)} faults were mended.")


def _others(manual: Manual) -> None:
    dice = manual.dice
    for topic, advice in GUIDES.items():
        page = manual.collection.page(f"guides/{topic}.md")
        page.say(f"# {topic.replace('-', ' ').capitalize()}")
        page.say(advice, "\n\n")
        for command in dice.some(sorted(COMMANDS), 3):
            page.say(f"You will want [fer {command}](../commands/{command}.md), which {COMMANDS[command]}.")
        key = dice.pick(sorted(SETTINGS))
        page.say(f"People also touch `{key}` here, which governs {SETTINGS[key][1]}.", "\n\n")
    page = manual.collection.page("glossary.md")
    page.say("# Glossary")
    for term, meaning in GLOSSARY.items():
        manual.tell(("term", term), page, f"**{term}**: {meaning}", term, "\n\n")


def _ask(manual: Manual) -> None:
    dice, ask, facts = manual.dice, manual.collection.ask, manual.facts
    flags = [key for key in facts if key[0] == "flag"]
    for key in dice.some(flags, 14):
        fact, value = facts[key]
        ask(FLAGS[key[2]][2].format(c=key[1]), "paraphrase", [value], [fact])
    for key in dice.some(flags, 10):
        fact, value = facts[key]
        ask(f"What is the default of --{key[2]} in fer {key[1]}?", "identifier", [value], [fact])
    for _, command, flag in dice.some([key for key in facts if key[0] == "added"], 10):
        fact, value = facts["added", command, flag]
        ask(f"In which version did fer {command} get the option --{flag}?", "version", [value], [fact])
    for setting in SETTINGS:
        seen, code = facts["seen", setting]
        remedy, limit = facts["remedy", setting][0], facts["limit", setting]
        default = facts["default", setting]
        ask(f"Which setting is to be changed when {code} comes up?", "identifier", [setting], [remedy])
        ask(f"What initial value has {SETTINGS[setting][1]}?", "paraphrase", [default[1]], [default[0]])
        ask(f"How far can I raise the setting that helps against {code}?", "multi", [limit[1]], [remedy, limit[0]])
        ask(f"Which code do I see if {ERRORS[setting][2]}?", "paraphrase", [code], [seen])
    for _, module, function in dice.some([key for key in facts if key[0] == "raises"], 8):
        raised, cause = facts["raises", module, function]
        remedy = facts["remedy", cause][0]
        ask(f"Which setting matters if {module}.{function} fails?", "multi", [cause], [raised, remedy])
        result, value = facts["returns", module, function]
        ask(f"What is the result of a call of {module}.{function}?", "identifier", [value], [result])
    for term, question in ASK_GLOSSARY.items():
        ask(question, "paraphrase", [term], [facts["term", term][0]])
    missing = [(c, f) for c in COMMANDS for f in FLAGS if ("flag", c, f) not in facts]
    for command, flag in dice.some(missing, 8):
        ask(f"What is the default of --{flag} in fer {command}?", "unanswerable")
    for question in NEVER:
        ask(question, "unanswerable")
