"""Names of people, places and things that do not exist."""

from __future__ import annotations

from eval.synthetic.writing import Dice

_FIRST = (
    "Alba Anselm Arvid Beate Benno Birgit Calla Caspar Clemence Corvin Dagny Dario Edda Eirik Elspet Emeric Fenna "
    "Florian Gesa Gideon Halla Hedwig Ida Ilario Ines Ivo Jarla Jonas Juno Kalle Katrin Lambert Leontine Lorcan "
    "Maurin Mechtild Merete Nadir Nella Odile Orsel Osric Perrin Petra Quentin Ragna Roderic Runa Sander Selma "
    "Sigrun Tabea Thilo Torvald Ulla Urban Veit Viola Wanda Wilmot Ysolde Zeno"
).split()
_WOMEN = frozenset(
    "Alba Beate Birgit Calla Clemence Dagny Edda Elspet Fenna Gesa Halla Hedwig Ida Ines Jarla Juno Katrin Leontine "
    "Mechtild Merete Nella Odile Petra Ragna Runa Selma Sigrun Tabea Ulla Viola Wanda Ysolde".split()
)
_FRONT = (
    "Bel Bran Cald Dor Eldr Fal Gar Hask Ilm Jost Karr Lind Mar Nord Ost Pell Quist Rav Sorn Tarn Ulv Vant Wess Yrr"
).split()
_BACK = "amer berg dahl eby felt gren holt ick kamp lund mund nack quin reny rud send stett tal vig wald".split()
_TOWN_FRONT = "Ash Brack Cold Dun Ebb Farn Grim Hal Ket Lin Mor Nether Over Pen Rook Sal Thorn Under Wind Yar".split()
_TOWN_BACK = "by combe dale ferry ford haven holm mere minster mouth ness scar stead ter thwaite wick".split()
_RIVERS = "Aune Brisk Carrow Dessel Ember Fleam Gannel Isk Lodder Merrow Nidder Orle Pirrel Sallow Tave Wharl".split()


class Names:
    """Gives each name once."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self._taken: set[str] = set()
        self._rivers = dice.shuffled(_RIVERS)

    def person(self, surname: str = "") -> tuple[str, bool]:
        """Return a full name, and whether it is a woman's."""
        while True:
            first = self._dice.pick(_FIRST)
            name = f"{first} {surname or self.surname()}"
            if self._fresh(name):
                return name, first in _WOMEN

    def surname(self) -> str:
        return self._dice.pick(_FRONT) + self._dice.pick(_BACK)

    def town(self) -> str:
        while True:
            name = self._dice.pick(_TOWN_FRONT) + self._dice.pick(_TOWN_BACK)
            if self._fresh(name):
                return name

    def river(self) -> str:
        return self._rivers.pop()

    def _fresh(self, name: str) -> bool:
        if name in self._taken:
            return False
        self._taken.add(name)
        return True
