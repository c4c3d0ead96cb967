"""How common a word is, told from the shipped vocabulary."""

from graphctx.nlp.commonness import expected_mentions, rank_of


def test_common_words_come_before_rare_ones() -> None:
    assert 0 < rank_of("people") < rank_of("office") < rank_of("battery") < rank_of("propeller")


def test_a_word_outside_the_vocabulary_is_rare() -> None:
    assert rank_of("dunmarrow") == 0
    assert expected_mentions("dunmarrow", 10_000) == 0.0


def test_a_longer_text_has_more_of_every_common_word() -> None:
    assert expected_mentions("office", 2_000) == 2 * expected_mentions("office", 1_000) > 0
