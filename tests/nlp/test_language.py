from __future__ import annotations

from importlib import import_module

import pytest

from graphctx.nlp.language import LANGUAGES, is_english, language_of


@pytest.mark.parametrize("code", sorted({*LANGUAGES} - {"sv", "hu", "tr"}))  # spaCy has too few examples of these
def test_a_text_in_latin_script_is_of_the_language_of_its_function_words(code: str) -> None:
    assert language_of(" ".join(import_module(f"spacy.lang.{code}.examples").sentences)) == code


@pytest.mark.parametrize(
    ("code", "script"), [("ru", "cyrillic"), ("zh", "han"), ("ja", "han"), ("ko", "hangul"), ("el", "greek")]
)
def test_a_text_in_another_script_is_of_that_script(code: str, script: str) -> None:
    assert language_of(" ".join(import_module(f"spacy.lang.{code}.examples").sentences)) == script


@pytest.mark.parametrize("text", ["", "12 345 --- %", "kubectl get pods --namespace kube-system -o yaml | grep image"])
def test_code_and_numbers_are_of_no_language(text: str) -> None:
    assert language_of(text) == ""


@pytest.mark.parametrize(
    "question", ["What is C. E. Webber's occupation?", "What does the report of Levine J, Dowse H and Hall J say?"]
)
def test_initials_do_not_make_a_question_foreign(question: str) -> None:
    assert is_english(question)
    assert not is_english("Wann fährt die Fähre?")
