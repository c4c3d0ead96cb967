"""What the chats are about. A line is ``speaker words`` or ``speaker key| words``, where the key names a fact."""

from __future__ import annotations

from dataclasses import dataclass

Ask = tuple[str, tuple[str, ...], str, str]


@dataclass(frozen=True)
class Thread:
    """A matter that is talked over in some sessions; questions are (type, keys of gold lines, question, answer)."""

    values: dict[str, tuple[str, ...]]
    sessions: tuple[tuple[str, ...], ...]
    questions: tuple[Ask, ...]


SMALL_TALK = (
    ("Morning! Is it raining where you are?", "Only on my side of the street, as always."),
    ("I slept four hours. Ask me nothing.", "Coffee first, then questions."),
    ("Did you see the moon yesterday?", "I was asleep by nine, sorry."),
    ("My phone is at six per cent.", "Then write faster 😄"),
    ("Somebody ate my yoghurt.", "It was not me this time!"),
    ("I miss the summer already.", "It is the light that I miss."),
    ("Do you have a minute?", "Always. Well, nearly always."),
    ("The lift is broken again.", "Good for our legs."),
    ("Haha, that is so like you.", "I take that as praise."),
    ("Long day?", "Meetings. So many meetings."),
    ("I can hear the neighbours sing.", "At least somebody is happy."),
    ("Brb, the door.", "Take your time."),
)

THREADS = (
    Thread(
        {
            "t1": ("half past six", "seven"),
            "t2": ("eight", "a quarter to nine"),
            "wall": ("the Quarry Hall", "the Old Silo"),
        },
        (
            (
                "a plan| {b}, shall we go climbing on Thursday? I could be at {wall} at {t1}.",
                "b Sounds good, I bring the chalk.",
            ),
            (
                "b change| I can't leave work in time on Thursday. Could we say {t2} instead?",
                "a Fine with me, {t2} it is.",
            ),
        ),
        (
            ("update", ("change",), "At what time did {a} and {b} finally agree to meet for climbing?", "{t2}"),
            ("single", ("plan",), "Where do {a} and {b} go climbing?", "{wall}"),
        ),
    ),
    Thread(
        {
            "gift": ("a bread knife", "a kite", "a head torch"),
            "price": ("34 crowns", "58 crowns"),
            "cake": ("plum", "walnut"),
        },
        (
            ("a hush| Don't tell {c}, but I think we should get {gift} for the birthday.", "b Lovely idea, I am in."),
            (
                "b paid| I picked it up today, it came to {price}, so half of that from you 🙂",
                "a Will send it tonight!",
            ),
            ("c cake| You two!! Best birthday. And who baked the {cake} cake?", "a That was {b}, all alone."),
        ),
        (
            ("single", ("hush",), "Which present did {a} and {b} choose for {c}?", "{gift}"),
            ("multi", ("hush", "paid"), "How much did {b} pay for the birthday present of {c}?", "{price}"),
            ("single", ("cake",), "What sort of cake was there on the birthday of {c}?", "{cake}"),
        ),
    ),
    Thread(
        {
            "leak": ("the bathroom", "the cellar"),
            "man": ("Mr Abelard", "Ms Quandt"),
            "cost": ("310 crowns", "185 crowns"),
        },
        (
            (
                "a leak| There is water on the floor of {leak} again, and it is not me this time.",
                "b Oh no. Shut the main tap!",
            ),
            ("b man| I reached {man}, who can come on Wednesday with new seals.", "a You are an angel."),
            ("a bill| All dry. The bill is {cost}, which the landlord will pay.", "c Framing that message."),
        ),
        (
            ("single", ("leak",), "Where did {a} find water on the floor?", "{leak}"),
            ("single", ("man",), "Which plumber did {b} get hold of?", "{man}"),
            ("multi", ("man", "bill"), "What did the repair cost for which {b} had called somebody to {a}?", "{cost}"),
        ),
    ),
    Thread(
        {
            "firm": ("the observatory", "the tram depot", "a seed bank"),
            "day": ("Tuesday", "Friday"),
            "pay": ("400", "650"),
        },
        (
            ("a call| They want to see me! Interview at {firm} on {day}.", "c I knew it!!"),
            ("a went| It went well, except that I spilled tea over the form.", "c They will remember you."),
            ("a offer| I said yes. It is {pay} crowns a month more than now.", "b Dinner is on you then."),
        ),
        (
            ("single", ("call",), "Where did {a} apply for a new job?", "{firm}"),
            ("single", ("offer",), "By how much will the salary of {a} go up?", "{pay} crowns"),
            ("multi", ("call", "went"), "What mishap happened to {a} at the meeting at {firm}?", "spilled tea"),
        ),
    ),
    Thread(
        {"isle": ("Sandholm", "Varnø", "Little Tern Island"), "boat": ("6:40", "7:25"), "n": ("three", "four")},
        (
            ("b isle| So for the long weekend I vote for {isle}, with tents.", "a Yes!! Sea and no people."),
            (
                "c ferry| I looked it up: the only ferry that fits goes at {boat} in the morning.",
                "a Ouch. But all right.",
            ),
            (
                "a nights| We stayed {n} nights in the end because of the wind, and I have sand everywhere.",
                "b Worth it.",
            ),
        ),
        (
            ("single", ("isle",), "Which destination did {b} propose for camping?", "{isle}"),
            (
                "multi",
                ("isle", "ferry"),
                "At what time in the morning does the ferry leave for the weekend that {b} and {c} plan?",
                "{boat}",
            ),
            ("single", ("nights",), "How many nights did {a} and the others stay in their tents?", "{n} nights"),
        ),
    ),
    Thread(
        {"dish": ("lentil soup", "stuffed cabbage", "mushroom pie"), "spice": ("caraway", "lovage", "smoked paprika")},
        (
            (
                "a recipe| {b}, what is the secret of your {dish}? Mine tastes of nothing.",
                "b I'll think about whether to tell 😏",
            ),
            ("b secret| All right: a spoon of {spice}, but only at the very end.", "a That simple?!"),
        ),
        (
            (
                "multi",
                ("recipe", "secret"),
                "Which seasoning does {b} use for the dish that {a} asked about?",
                "{spice}",
            ),
            ("single", ("recipe",), "The cooking of {b} is admired by {a}: which meal?", "{dish}"),
        ),
    ),
    Thread(
        {
            "cat": ("Pepper", "Admiral", "Mrs Beans"),
            "pills": ("twice a day", "every other day"),
            "vet": ("kidneys", "a tooth"),
        },
        (
            ("c cat| {cat} has not eaten since yesterday, I am worried.", "a Go and see the vet, really."),
            ("c vet| It is {vet}, says the vet. Tablets {pills}, hidden in cheese.", "b Poor thing. And poor cheese."),
        ),
        (
            ("single", ("cat",), "What is the pet of {c} called?", "{cat}"),
            ("multi", ("cat", "vet"), "What was wrong with the animal that would not eat at the home of {c}?", "{vet}"),
            ("single", ("vet",), "How often must {c} hide a tablet in the cheese?", "{pills}"),
        ),
    ),
    Thread(
        {
            "bike": ("the red tandem", "my cargo bike"),
            "place": ("the library", "the swimming pool"),
            "code": ("the brown door", "row C"),
        },
        (
            (
                "a lost| Somebody took {bike} from outside {place}!! I was in there for ten minutes.",
                "b Did you tell the police?",
            ),
            ("b found| You won't believe it, I have just seen it by {code}, unlocked.", "a I am running."),
        ),
        (
            ("single", ("lost",), "Where was {a} when the bicycle vanished?", "{place}"),
            ("multi", ("lost", "found"), "Where did {b} spot the stolen vehicle of {a}?", "{code}"),
        ),
    ),
    Thread(
        {
            "book": ("a book on moss", "the atlas of clouds"),
            "back": ("Sunday", "the end of the month"),
            "who": ("my brother", "my aunt"),
        },
        (
            (
                "b lend| {a}, can I borrow {book} from you?",
                "a book2| Only if I have it back by {back}, {c} wants it too.",
            ),
            ("b oops| Confession: I lent it on to {who}. Don't shout.", "a I am not shouting. I AM NOT."),
        ),
        (
            ("single", ("lend",), "What did {b} want to read that belongs to {a}?", "{book}"),
            ("single", ("book2",), "What deadline did {a} give {b} for returning it?", "{back}"),
            ("multi", ("lend", "oops"), "To whom did {b} pass on what {a} had handed over?", "{who}"),
        ),
    ),
    Thread(
        {
            "tune": ("the slow waltz", "the one in seven eight"),
            "hall": ("the fire station", "the chapel"),
            "seats": ("90", "140"),
        },
        (
            ("a band| Rehearsal was a mess, only {tune} sounds like music.", "c We have two weeks, breathe."),
            (
                "c hall| We can play in {hall}, they have {seats} chairs and a piano that is nearly in tune.",
                "a Take it!",
            ),
            ("b full| I have never seen so many people in there. Not one chair left!", "a My hands are still shaking."),
        ),
        (
            ("single", ("band",), "Which piece of the band of {a} was in good shape at practice?", "{tune}"),
            (
                "single",
                ("hall",),
                "Where will the band of {a} and {c} play, now that {c} has looked for a room?",
                "{hall}",
            ),
            ("multi", ("hall", "full"), "About how many people sat in the audience that astonished {b}?", "{seats}"),
        ),
    ),
    Thread(
        {"flat": ("Tanner Street", "Gull Lane"), "rent": ("720", "865"), "when": ("the first of June", "mid-July")},
        (
            (
                "c flat| I have seen a place on {flat}, two rooms and a balcony over the canal.",
                "b Take it before I do.",
            ),
            ("c rent| Signed! {rent} crowns, heating included.", "a Congratulations!!"),
            ("c move| I get the keys on {when}. Who can carry a wardrobe?", "b Suddenly I have plans for that day."),
        ),
        (
            ("single", ("flat",), "In which road will {c} live?", "{flat}"),
            ("multi", ("flat", "rent"), "What does {c} pay for the home with a view of the water?", "{rent}"),
            ("single", ("move",), "When does {c} get the keys of the new flat?", "{when}"),
        ),
    ),
    Thread(
        {"run": ("the half marathon", "the lighthouse run"), "time": ("1:58", "2:11"), "hurt": ("ankle", "left knee")},
        (
            ("a run| I signed up for {run} in autumn. Tell me I am not mad.", "b You are mad, and I am coming along."),
            ("a hurt| Twisted my {hurt} on the stairs of all places. No training for ten days.", "c Ice and series."),
            ("b time| {a} did it in {time}!! And smiled in the photograph.", "c Smiled, or showed teeth?"),
        ),
        (
            ("single", ("run",), "For which race did {a} register?", "{run}"),
            ("single", ("hurt",), "Which part of the body did {a} injure?", "{hurt}"),
            ("multi", ("run", "time"), "How fast was {a} in the competition that {b} joined?", "{time}"),
        ),
    ),
)

NEVER = (
    "What is the name of the sister of {a}?",
    "Which film did {b} and {c} see on Saturday?",
    "How much did {c} pay for the new sofa?",
    "What colour is the car of {b}?",
    "Which language course did {a} book?",
    "Where did {b} spend the new year?",
    "What is the password of the wireless network of {c}?",
    "Which team does {a} support?",
    "What did the dentist say to {b}?",
    "When does the flight of {c} land?",
    "Which plants did {a} put on the balcony?",
    "Who broke the window of {b}?",
)
