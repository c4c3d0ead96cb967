"""How the encyclopedia tells its facts, and how questions ask for them: in other words."""

from __future__ import annotations

LEAD = {
    "person": (
        "{name} was a {trade} from {birthplace}, born in {born}.",
        "{name} (born {born} at {birthplace}) was a {trade} whose early years left few traces.",
        "Born in {born} to a family of {birthplace}, {name} made a living as a {trade}.",
    ),
    "town": (
        "{name} is a market town on the {river}.",
        "{name} lies where the old salt road crosses the {river}.",
        "Seen from the hills, {name} is a ring of slate roofs on a bend of the {river}.",
    ),
    "river": (
        "The {name} is a river of {length} kilometres.",
        "For {length} kilometres the {name} winds through meadow and moor.",
    ),
    "school": (
        "{name} is a boarding school that opened its doors in {founded}.",
        "Since {founded} boys and girls have slept, eaten and quarrelled at {name}.",
    ),
    "firm": (
        "{name} is a maker of {wares}.",
        "{name} began in {founded} with four workmen and a borrowed shed.",
    ),
    "prize": (
        "The {name} is paid for by {donor}.",
        "Each autumn {donor} endows the {name}.",
    ),
    "work": (
        "{name} is a book by {author} about {topic}.",
        "In {name}, {author} writes about {topic}.",
    ),
}

TELL = {
    "person": {
        "school": ("{he} was a pupil of {school} for six years.", "{school} took {him} in at the age of eleven."),
        "employer": (
            "for most of {his} working life {he} was on the payroll of {employer}.",
            "{employer} hired {him} as a young {trade} and kept {him}.",
        ),
        "spouse": ("{he} married {spouse} in a small ceremony.", "{his} wedding with {spouse} was in all the papers."),
        "prize": ("in {honoured} {he} was awarded the {prize}.", "the jury of the {prize} chose {him} in {honoured}."),
        "died": ("{he} died in {died} after a short illness.", "{last} was buried in {died} beside a yew."),
    },
    "town": {
        "goods": ("its workshops are known for {goods}.", "visitors come here to buy {goods}."),
        "people": ("at the last count it had {people} inhabitants.", "{people} people live inside its bounds."),
        "feast": ("the fair of its patron is held in {feast}.", "every {feast} the streets are closed for the fair."),
    },
    "river": {
        "lake": ("it rises in {lake}.", "its water comes out of {lake}."),
    },
    "school": {
        "town": ("it stands above the roofs of {town}.", "its long brick front faces the station of {town}."),
        "head": ("the first to lead it was {head}.", "{head} was its first headteacher."),
        "colour": ("pupils wear {colour} coats.", "the uniform has been {colour} from the start."),
    },
    "firm": {
        "founder": ("it was set up by {founder}.", "{founder} founded it with money from an aunt."),
        "seat": ("its offices are in {seat}.", "from the first day it was run from {seat}."),
        "wares": ("it makes {wares}.", "most of what leaves its gates is {wares}."),
        "founded": ("it was started in {founded}.", "its oldest account book is of {founded}."),
    },
    "prize": {
        "sum": ("the winner is given {sum} crowns.", "it is worth {sum} crowns."),
    },
    "work": {
        "publisher": ("it was brought out by {publisher}.", "{publisher} published it in a run of nine hundred."),
        "pages": ("the first edition has {pages} pages.", "it fills {pages} pages."),
        "printed": ("it was first printed in {printed}.", "the first copies were sold in {printed}."),
    },
}

FILLER = {
    "person": (
        "Neighbours remembered a dry sense of humour and a dislike of dogs.",
        "A portrait in oils was lost in a fire.",
        "{last} kept a diary, of which eleven pages are left.",
        "Letters to a cousin speak of long walks and little sleep.",
        "The family later moved away from {birthplace}.",
    ),
    "town": (
        "A tramway was planned twice and never built.",
        "The weigh house has a painted ceiling.",
        "Two bridges were carried off by ice in one winter.",
        "Storks nest on the granary.",
    ),
    "river": (
        "Herons fish in its shallows.",
        "In dry summers it can be crossed on foot.",
        "Three mills still turn on it.",
    ),
    "school": (
        "A bell from a wrecked ship calls to dinner.",
        "The library smells of apples, which are stored beneath it.",
    ),
    "firm": (
        "A strike of nine weeks nearly ended it.",
        "The gate has a clock that runs backwards.",
        "It never advertised.",
    ),
    "prize": (
        "The ceremony is held by candlelight.",
        "Twice the jury could not agree and nobody was chosen.",
        "A medal of no great weight comes with it.",
    ),
    "work": ("Critics were divided.", "A second edition corrected a map.", "The manuscript is kept in a biscuit tin."),
}

VIA = {
    ("person", "birthplace"): (
        "the place where {x} came into the world",
        "the home town of {x}",
        "the town {x} hailed from",
    ),
    ("person", "school"): ("the school attended by {x}", "the institution where {x} got an education"),
    ("person", "employer"): ("the company that {x} worked for", "the firm where {x} had a job"),
    ("person", "spouse"): ("the person whom {x} wed", "the partner {x} was married to"),
    ("person", "prize"): ("the award that went to {x}", "the distinction won by {x}"),
    ("town", "river"): ("the river that flows past {x}", "the stream on whose banks one finds {x}"),
    ("school", "town"): ("the town where one finds {x}", "the place that is home to {x}"),
    ("school", "head"): ("the founding principal of {x}", "whoever was in charge of {x} when it opened"),
    ("firm", "founder"): ("the founder of {x}", "the one who established {x}"),
    ("firm", "seat"): ("the town in which {x} has its headquarters", "the place {x} is managed from"),
    ("prize", "donor"): ("the sponsor of the {x}", "the company behind the {x}"),
    ("work", "author"): ("the author of {x}", "the writer to whom we owe {x}"),
    ("work", "publisher"): ("the publisher of {x}", "the house that issued {x}"),
}

ASK = {
    ("person", "birthplace"): ("What is the native town of {x}?", "Where did {x} spend the first days of life?"),
    ("person", "born"): ("What is the birth year of {x}?", "When was {x} born?"),
    ("person", "trade"): ("What did {x} do for a living?", "What was the occupation of {x}?"),
    ("person", "employer"): ("Which company paid the wages of {x}?", "For whom did {x} work?"),
    ("person", "spouse"): ("To whom was {x} married?", "Who was the husband or wife of {x}?"),
    ("person", "school"): ("Where was {x} educated?", "At which school did {x} learn to read Latin?"),
    ("person", "died"): ("What is the year of death of {x}?", "When did {x} pass away?"),
    ("town", "goods"): ("Which product made {x} famous?", "What do craftsmen make in {x}?"),
    ("town", "people"): ("How large is the population of {x}?", "How many residents does {x} have?"),
    ("town", "feast"): ("In which month does {x} celebrate its saint?", "When is the annual festival in {x}?"),
    ("town", "river"): ("Which river flows through {x}?", "On what watercourse is {x} situated?"),
    ("river", "length"): ("How long is {x}?", "What distance does {x} cover from source to mouth?"),
    ("river", "lake"): ("Where is the source of {x}?", "Which lake feeds {x}?"),
    ("school", "founded"): ("How old is {x}, that is, from which year does it date?", "When was {x} established?"),
    ("school", "colour"): ("How are the students of {x} dressed?", "In which colour does one see the children of {x}?"),
    ("school", "head"): ("Who was the first principal of {x}?", "Who ran {x} in the beginning?"),
    ("firm", "wares"): ("What does {x} manufacture?", "Which goods come from the factory of {x}?"),
    ("firm", "founder"): ("Who established {x}?", "Whose creation is {x}?"),
    ("firm", "seat"): ("Where is the head office of {x}?", "From which town is {x} directed?"),
    ("prize", "sum"): ("How much money does one get with {x}?", "What is the cash value of {x}?"),
    ("prize", "donor"): ("Which company sponsors {x}?", "Who finances {x}?"),
    ("work", "topic"): ("What is the subject of {x}?", "What does one read about in {x}?"),
    ("work", "pages"): ("How thick is {x}, in pages?", "How many leaves, counted on both sides, does {x} have?"),
    ("work", "printed"): ("When did {x} appear?", "What is the year of publication of {x}?"),
}

CHAINS = (
    "person employer",
    "person school",
    "town feast",
    "firm seat",
    "prize sum",
    "work topic",
    "river lake",
    "school colour",
    "person birthplace river",
    "person birthplace goods",
    "person school colour",
    "person employer wares",
    "person spouse trade",
    "person spouse born",
    "firm founder birthplace",
    "firm seat people",
    "school town feast",
    "school head school",
    "prize donor seat",
    "work author employer",
    "work publisher founder",
    "work author died",
    "work author birthplace river",
    "person spouse birthplace goods",
    "person school town people",
    "person employer founder born",
    "firm founder spouse school",
    "prize donor founder trade",
    "work publisher seat feast",
    "person prize donor wares",
    "school head birthplace river",
    "work author birthplace river length",
    "person employer founder birthplace feast",
    "prize donor seat river lake",
    "work publisher founder school colour",
    "person spouse school town goods",
)
"""``kind link … attribute``; the number of links and attributes is the number of hops."""

DESCRIBE = (
    "Which town does the {trade} come from who was honoured with the {prize}?",
    "Where was the {trade} born who won the {prize}?",
    "The {prize} once went to a {trade}: what is that person's home town?",
)

NEVER = (
    ("person", "What was the name of the dog that {name} kept?"),
    ("person", "How tall was {name}?"),
    ("person", "Which instrument did {name} play in the orchestra?"),
    ("town", "Who is the mayor of {name}?"),
    ("town", "In which year was the railway station of {name} opened?"),
    ("river", "Who was the first to swim the whole of the {name}?"),
    ("school", "How much is a year's fee at {name}?"),
    ("firm", "How many people does {name} employ?"),
    ("prize", "In which year was the {name} given for the first time?"),
    ("work", "Into how many languages was {name} translated?"),
    ("work", "What did the first edition of {name} cost?"),
)
