"""Sentences and words."""

from pressroom_seo.scoring.text.analysis import Sentence, Text
from pressroom_seo.scoring.text.sentences import split_sentences
from pressroom_seo.scoring.text.words import split_words, word_parts

__all__ = ["Sentence", "Text", "split_sentences", "split_words", "word_parts"]
