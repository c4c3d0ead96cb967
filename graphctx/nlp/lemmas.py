"""Lemmas of verbs by table: the only lemmas that facts need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_CLITICS = {"'s": "be", "'re": "be", "'m": "be", "'ve": "have", "'d": "would", "'ll": "will", "ca": "can", "wo": "will"}


class VerbLemmas:
    """Looks up a verb form among the exceptions, then strips endings until a known verb is left."""

    def __init__(
        self,
        *,
        rules: Sequence[tuple[str, str]],
        exceptions: Mapping[str, Sequence[str]],
        known: frozenset[str],
    ) -> None:
        """Keep the tables.

        Args:
            rules: endings and what replaces them, in the order in which they are tried.
            exceptions: irregular forms and their lemmas, the first one counts.
            known: all verbs in their base form.
        """
        self._rules = tuple(rules)
        self._exceptions = exceptions
        self._known = known
        self._found: dict[str, str] = {}

    def lemma(self, word: str) -> str:
        """The base form in lower case; the word itself where no rule leads to a verb."""
        form = word.lower().replace("’", "'")
        found = self._found.get(form)
        if found is None:
            found = self._found[form] = self._look_up(form)
        return found

    def _look_up(self, form: str) -> str:
        if form in _CLITICS:
            return _CLITICS[form]
        irregular = self._exceptions.get(form)
        if irregular:
            return irregular[0]
        if form in self._known:
            return form
        stems = [form[: len(form) - len(old)] + new for old, new in self._rules if form.endswith(old)]
        known = [stem for stem in stems if stem in self._known]
        return known[0] if known else form
