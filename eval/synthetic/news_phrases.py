"""The stories of the news: what each report tells, and what is asked about a story."""

from __future__ import annotations

from dataclasses import dataclass, field

Forms = tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """One report of a story: sentences by key; ``numbers`` (low, high, step) and ``words`` fill their ``{value}``."""

    told: dict[str, Forms]
    numbers: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    words: dict[str, Forms] = field(default_factory=dict)


@dataclass(frozen=True)
class Story:
    """A story in reports; questions are (type, keys whose sentences are gold, forms). The last key's value answers."""

    reports: tuple[Report, ...]
    questions: tuple[tuple[str, tuple[str, ...], Forms], ...]


BYLINES = (
    "{town}, {date}.",
    "{town} ({day}) –",
    "Our correspondent writes from {town} on {date}:",
    "{day}, {date}, {town}.",
)

COMMON = (
    "{whom} would not comment when reached by telephone.",
    "In {other} the news was taken calmly.",
    "Shares of {rival} hardly moved.",
    "Residents of {town} spoke of little else on {day}.",
    "{rival} let it be known that it was watching closely.",
    "Similar things were heard from {other} last year.",
    "A spokeswoman of {firm} asked for patience.",
    "The prefecture has called a meeting in {other}.",
    "{who} had been seen in {other} only the week before.",
    "The last time that {town} made the front page was four years ago.",
    "{firm} has had its seat in the region for two generations.",
    "At the bakery by the station opinions were divided.",
    "Between {town} and {other} the trains ran on time, which some thought worth mentioning.",
    "{whom}, asked about it after a concert, shrugged.",
    "An editorial in {other} calls for calm and for better numbers.",
    "The figures could not be confirmed by other sources.",
    "Schoolchildren in {town} were given the afternoon off.",
    "For {rival} it comes at a bad moment.",
    "The weather was mild for the season.",
    "{who} and {whom} have known each other since their youth.",
    "Further statements are expected before {day} next week.",
    "The council of {other} will take up the matter behind closed doors.",
    "On the quay fishermen went on mending their nets.",
)

STORIES = (
    Story(
        (
            Report(
                {
                    "strikers": (
                        "{value} employees of {firm} laid down tools at the {town} plant before dawn.",
                        "At {firm} in {town}, {value} hands stayed outside the gates.",
                    ),
                    "demand": ("Their union demands {value}.", "What they want is {value}."),
                },
                {"strikers": (12, 90, 20)},
                {"demand": ("a shorter night shift", "paid breaks", "a new canteen", "eleven more days of leave")},
            ),
            Report(
                {
                    "talks": (
                        "Talks under {value} broke up after nine hours.",
                        "{value} presided over the talks, in vain.",
                    )
                },
                words={"talks": ("a retired bishop", "the harbour master", "a judge of the labour court")},
            ),
            Report(
                {
                    "end": (
                        "The walkout is over: both sides signed, and wages rise by {value} per cent.",
                        "Work at {firm} resumed after a deal that adds {value} per cent to every pay packet.",
                    )
                },
                {"end": (2, 9, 1)},
            ),
        ),
        (
            ("single", ("strikers",), ("How many people took part in the {firm} strike at {town}?",)),
            ("single", ("demand",), ("For what did the workers of {firm} in {town} go on strike?",)),
            (
                "multi",
                ("talks", "end"),
                ("After mediation at {firm} in {town} had failed at first, how big was the raise?",),
            ),
            ("single", ("talks",), ("Who acted as mediator between {firm} and its staff in {town}?",)),
        ),
    ),
    Story(
        (
            Report(
                {
                    "warning": (
                        "Forecasters see gusts of {value} kilometres an hour coming over {town}.",
                        "{town} is told to expect wind of {value} kilometres an hour.",
                    )
                },
                {"warning": (18, 34, 5)},
            ),
            Report(
                {
                    "dark": (
                        "{value} homes around {town} lost their current overnight.",
                        "The lights went out in {value} households of {town} and its villages.",
                    ),
                    "damage": ("The worst hit was {value}.", "Nothing is left of {value}."),
                },
                {"dark": (8, 70, 150)},
                {"damage": ("the roof of the swimming baths", "the old ferry pier", "a row of market stalls")},
            ),
            Report(
                {
                    "cost": (
                        "Insurers put the bill of the tempest at {value} thousand crowns.",
                        "Repairs will come to {value} thousand crowns, {who} told the council.",
                    )
                },
                {"cost": (11, 95, 20)},
            ),
        ),
        (
            ("single", ("dark",), ("How many dwellings were without electricity after the storm at {town}?",)),
            ("single", ("damage",), ("What did the storm destroy at {town}?",)),
            ("multi", ("warning", "cost"), ("What did the storm cost that was foretold for {town}?",)),
            ("single", ("warning",), ("Which wind speed was predicted for {town} in {month}?",)),
        ),
    ),
    Story(
        (
            Report(
                {
                    "offer": (
                        "{firm} offers {value} million crowns for {rival}.",
                        "An offer of {value} million crowns for {rival} has come from {firm}.",
                    )
                },
                {"offer": (12, 190, 5)},
            ),
            Report(
                {
                    "objection": (
                        "The competition office has doubts because of {value}.",
                        "Regulators point to {value} and want more papers.",
                    )
                },
                words={"objection": ("two overlapping ferry lines", "a shared warehouse", "prices in the north")},
            ),
            Report(
                {
                    "outcome": (
                        "Shareholders met in {town} and {value}.",
                        "In a crowded hall in {town} the owners {value}.",
                    )
                },
                words={"outcome": ("turned the plan down", "agreed by a wide margin", "put the vote off to spring")},
            ),
        ),
        (
            ("single", ("offer",), ("What was {firm} ready to pay to take over {rival}?",)),
            ("single", ("objection",), ("Why did the watchdog hesitate about {firm} buying {rival}?",)),
            ("multi", ("offer", "outcome"), ("How did the stockholders decide about the bid of {firm} for {rival}?",)),
        ),
    ),
    Story(
        (
            Report(
                {
                    "charge": (
                        "{who} must answer in court for {value}.",
                        "Prosecutors in {town} accuse {who} of {value}.",
                    )
                },
                words={"charge": ("forged invoices", "bribes for building permits", "the theft of a fire engine")},
            ),
            Report(
                {
                    "witness": (
                        "The hearing turned when {value} took the stand.",
                        "It was {value} whose testimony counted.",
                    )
                },
                words={"witness": ("a former bookkeeper", "the night porter", "a ticket collector")},
            ),
            Report(
                {"sentence": ("The judges gave {who} {value}.", "For {who} it ends with {value}.")},
                words={"sentence": ("two years on probation", "a fine of 9,000 crowns", "an acquittal")},
            ),
        ),
        (
            (
                "single",
                ("charge",),
                ("Which crime was {who} alleged to have committed, according to reports from {town}?",),
            ),
            ("single", ("witness",), ("Who gave the decisive evidence in the {town} trial of {who}?",)),
            ("multi", ("charge", "sentence"), ("What was the verdict on {who} in {town}?",)),
        ),
    ),
    Story(
        (
            Report(
                {
                    "plan": (
                        "{town} wants a second bridge, and {firm} is to build it for {value} million crowns.",
                        "For {value} million crowns {firm} will span the water at {town} again.",
                    )
                },
                {"plan": (6, 60, 2)},
            ),
            Report(
                {
                    "delay": (
                        "Work on the crossing stands still since {value} came to light.",
                        "Because of {value} the builders had to stop.",
                    )
                },
                words={"delay": ("a colony of bats", "an unexploded shell", "cracks in the second pier")},
            ),
            Report(
                {
                    "opening": (
                        "{who} cut the ribbon, and {value} people walked over the new bridge on the first day.",
                        "On its first day {value} walkers crossed the bridge that {who} opened.",
                    )
                },
                {"opening": (3, 40, 250)},
            ),
        ),
        (
            ("single", ("plan",), ("What is the price of the additional bridge of {town}?",)),
            ("single", ("delay",), ("What held up the construction of the bridge in {town} by {firm}?",)),
            ("single", ("opening",), ("How many pedestrians used the {town} bridge when {who} inaugurated it?",)),
            ("multi", ("plan", "opening"), ("How many visitors came on day one to the bridge that {firm} had built?",)),
        ),
    ),
    Story(
        (
            Report(
                {
                    "poll": (
                        "{who} leads the race for the town hall of {town} with {value} per cent in the polls.",
                        "Asked for whom they would vote, {value} per cent in {town} say {who}.",
                    )
                },
                {"poll": (31, 49, 1)},
            ),
            Report(
                {
                    "promise": (
                        "At a rally in {town} {who} promised {value}.",
                        "{value}: that is what {who} offers {town}.",
                    )
                },
                words={"promise": ("free trams on Sundays", "a roof for the market", "lower fees for moorings")},
            ),
            Report(
                {
                    "result": (
                        "{whom} will be the mayor of {town}, against all odds, by {value} votes.",
                        "By {value} votes {town} has chosen {whom} to be its mayor.",
                    )
                },
                {"result": (7, 260, 3)},
            ),
        ),
        (
            ("single", ("promise",), ("What did {who} pledge in the campaign in {town}?",)),
            ("single", ("result",), ("How narrow was the victory of {whom} in the {town} election?",)),
            (
                "multi",
                ("poll", "result"),
                ("{who} was ahead in {town}, but by what margin did the rival win in the end?",),
            ),
        ),
    ),
)

NEVER = (
    "Which hotel did {who} stay at in {town}?",
    "How many members does the orchestra of {town} have?",
    "What is the telephone number of the {firm} press office?",
    "Which song did the strikers at {firm} sing?",
    "How old is {whom}?",
    "Who is the architect of the railway station in {other}?",
    "What did {who} study at university?",
    "How many ships does {firm} own?",
    "Which newspaper first reported on the cholera in {town}?",
    "When will the museum in {town} open again?",
    "Who won the rowing match between {town} and {other}?",
    "Which school does the daughter of {whom} go to?",
    "What was the temperature of the sea at {town} in August?",
    "Which language do the owners of {rival} speak at home?",
)
