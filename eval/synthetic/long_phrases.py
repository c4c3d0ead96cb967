"""What stands in the long documents: events, one to an entry, and asides in between.

An event is (sentence, values of ``{v}``, question). ``{p}`` is one of the document's few places or people, which turns
up in many entries.
"""

from __future__ import annotations

from dataclasses import dataclass

Event = tuple[str, tuple[str, ...], str]


@dataclass(frozen=True)
class Genre:
    """A kind of long document.

    Attributes:
        title: with ``{name}``.
        entry: how an entry opens, with ``{n}`` and ``{p}``.
        first, step: the number of the first entry, and the most by which it grows.
        events, asides: sentences.
        never: questions that nothing answers, with ``{p}``.
    """

    title: str
    entry: str
    first: int
    step: int
    events: tuple[Event, ...]
    asides: tuple[str, ...]
    never: tuple[str, ...]


GENRES = (
    Genre(
        "Journal of the {name} expedition",
        "Day {n}, near {p}.",
        1,
        3,
        (
            (
                "We bartered {v} for dried fish.",
                ("two axes", "a roll of copper wire", "the spare kettle"),
                "What did the travellers give away for food near {p}?",
            ),
            (
                "The mule went through the ice and {v} sank with her.",
                ("the sextant", "forty candles", "our flour"),
                "What was lost when the animal drowned near {p}?",
            ),
            (
                "From the ridge we counted {v} columns of smoke.",
                ("three", "seven", "eleven"),
                "How many fires did they see from the heights around {p}?",
            ),
            (
                "The doctor pulled a tooth of {v} by lamplight.",
                ("the cook", "the youngest porter", "the surveyor"),
                "Who needed a dentist at the camp of {p}?",
            ),
            (
                "A bear tore open the store and ate {v}.",
                ("all the bacon", "nine tins of milk", "the soap"),
                "What did the wild beast devour at {p}?",
            ),
            (
                "Fog held us for {v} without a step forward.",
                ("four days", "sixty hours", "a week"),
                "For how long did bad sight keep the party at {p} from marching?",
            ),
            (
                "We named the waterfall after {v}.",
                ("the captain's daughter", "the patron of our town", "a dog"),
                "In whose honour is the cataract near {p} called?",
            ),
            (
                "Our barometer fell to {v} and then broke.",
                ("612", "655", "587"),
                "Which was the last air pressure that was read off at {p}?",
            ),
            (
                "The guides left us at night, and took {v}.",
                ("the better tent", "both saws", "the rum"),
                "What did the runaway helpers steal at {p}?",
            ),
            (
                "A child brought us {v} and ran away laughing.",
                ("a blue egg", "a carved spoon", "our lost map"),
                "Which present did a little visitor make at {p}?",
            ),
            (
                "We built a raft out of {v}.",
                ("tent poles", "an old door", "empty casks"),
                "From what did they make a vessel at {p}?",
            ),
        ),
        (
            "The wind stood in our faces until noon.",
            "I wrote up my notes with stiff fingers.",
            "Nobody spoke much at supper.",
            "The stars were out, and very large.",
            "We mended boots by the fire.",
            "Toward evening the path got better.",
            "It snowed a little, in dry small grains.",
            "The men sang, which is a good sign.",
            "I dreamed of oranges.",
            "We are fewer words every day, and that is no bad thing.",
            "The river is too loud to talk across.",
            "Our dog has a limp but will not be carried.",
            "A good march, though the loads are ill packed.",
            "In the valley the grass is still green.",
            "Somebody whistled all night long.",
            "We saw tracks that none of us could name.",
        ),
        (
            "Which songs did the party sing at {p}?",
            "How many photographs were taken at {p}?",
            "What was the name of the dog that limped near {p}?",
        ),
    ),
    Genre(
        "Chronicle of {name}",
        "In the year {n}, under {p}:",
        1702,
        4,
        (
            (
                "The well in the market gave {v} for a week.",
                ("red water", "no water", "warm water"),
                "What was odd about the public spring in the days of {p}?",
            ),
            (
                "A tax was laid on {v}.",
                ("chimneys", "wigs", "second doors"),
                "On what did citizens have to pay a new duty when {p} governed?",
            ),
            (
                "The town bought a clock from {v}, which never kept time.",
                ("a Dutchman", "the abbey", "a bankrupt smith"),
                "Who sold the municipality a bad timepiece under {p}?",
            ),
            (
                "Wolves came in by {v} and killed the watchman's goats.",
                ("the east gate", "the broken wall", "the ice"),
                "Which way did the beasts of prey enter during the rule of {p}?",
            ),
            (
                "Bread was so dear that it was baked with {v}.",
                ("acorns", "chestnut flour", "bran and straw"),
                "With what did bakers stretch their dough in the time of {p}?",
            ),
            (
                "A comedy was forbidden because it mocked {v}.",
                ("the brewers", "the bishop's nephew", "the night watch"),
                "Whom did the play make fun of that was banned under {p}?",
            ),
            (
                "The great bell cracked while it was rung for {v}.",
                ("a wedding", "peace", "a false alarm"),
                "On what occasion was the largest bell damaged under {p}?",
            ),
            (
                "A quarrel about {v} was ended by throwing dice.",
                ("a hedge", "two pews", "the ferry"),
                "What dispute was settled by a game of chance when {p} was in office?",
            ),
            (
                "The council had {v} planted along the moat.",
                ("mulberries", "limes", "pear trees"),
                "Which trees were put beside the ditch on the orders of those around {p}?",
            ),
            (
                "A stranger paid for the new roof of the almshouse in {v}.",
                ("pearls", "foreign silver", "wool"),
                "In what form was the gift made for the poorhouse under {p}?",
            ),
            (
                "The fair was moved to {v} on account of the heat.",
                ("the churchyard", "the night", "the far bank"),
                "To where or when was the market shifted because it was too hot under {p}?",
            ),
        ),
        (
            "The harvest was middling.",
            "Eleven couples were married, and nine children baptised.",
            "There was much coughing in the spring.",
            "The bridge was mended with oak.",
            "The chronicler was ill and has this from others.",
            "Two strangers were sent on their way.",
            "The winter was long, the summer wet.",
            "A calf with five legs was shown for money.",
            "The guilds marched in their old order.",
            "Of the rest there is nothing to tell.",
            "Old people said that it had been worse.",
            "The accounts of this year are stained by damp.",
            "Prayers were said, and after a while it rained.",
            "The schoolmaster asked for firewood again.",
            "Somebody stole the weathercock and brought it back.",
            "The bees did well.",
        ),
        (
            "How much did the town hall cost that was built under {p}?",
            "Which king visited the town under {p}?",
            "What was the name of the wife of {p}?",
        ),
    ),
    Genre(
        "Inquiry into the {name} affair",
        "Question {n}, put to {p}.",
        1,
        4,
        (
            (
                "I saw the lamp go out at {v}, not before.",
                ("ten past two", "four", "half past eleven"),
                "When did it become dark, in the account of {p}?",
            ),
            (
                "The key hung {v}, where everybody could take it.",
                ("behind the stove", "on a nail", "in the porter's coat"),
                "Where was the thing kept that opens the lock, as {p} remembers?",
            ),
            (
                "He told me that the crate held {v}.",
                ("seed potatoes", "glass eyes", "church silver"),
                "What was in the box, if one believes what {p} had been told?",
            ),
            (
                "I was paid {v} to look the other way.",
                ("sixty crowns", "two hams", "with a promise"),
                "How was {p} bribed?",
            ),
            (
                "The man on the stairs walked with {v}.",
                ("a stick", "no shoes on", "a limp"),
                "How did the person move whom {p} noticed in the stairwell?",
            ),
            (
                "I burned the letter in {v}.",
                ("the sink", "the baker's oven", "an ash tray"),
                "Where did {p} destroy the message?",
            ),
            (
                "The dog did not bark, because {v}.",
                ("it was deaf", "it knew him", "it had been fed"),
                "Why was the watchdog silent, according to {p}?",
            ),
            (
                "We had agreed to meet behind {v}.",
                ("the gasworks", "the chapel", "the skating rink"),
                "What was the meeting point that {p} had arranged?",
            ),
            (
                "I recognised the voice as that of {v}.",
                ("my former teacher", "the pharmacist", "a woman I owe money"),
                "Who was it that {p} heard speaking?",
            ),
            (
                "There was {v} on the floor the next day.",
                ("sawdust", "a single glove", "spilled ink"),
                "What did {p} find on the ground on the following morning?",
            ),
            (
                "I have kept {v} as a proof, and it is here.",
                ("a ticket stub", "the receipt", "a lock of hair"),
                "Which piece of evidence did {p} bring along?",
            ),
        ),
        (
            "I would rather not say more about that.",
            "You may write that down.",
            "It was a cold night, as far as I recall.",
            "The chairman asked the witness to speak up.",
            "I have told this to the police already.",
            "There was laughter in the room.",
            "My memory is not what it was.",
            "Counsel had no further question.",
            "The clerk read the answer out once more.",
            "I do not know who else was there.",
            "The witness was given a glass of water.",
            "One hears all sorts of things.",
            "That is what I said, and I stand by it.",
            "A window was opened.",
            "I had worked since five and was tired.",
            "The answer was put on record.",
        ),
        ("How old is {p}?", "In which street does {p} live?", "Which lawyer spoke for {p}?"),
    ),
)
