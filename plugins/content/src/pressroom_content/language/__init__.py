"""Languages: tags, word lists, stems, words and sentences. It knows nothing of articles; any plugin may use it."""

from pressroom_content.language.contributed import run_with_languages
from pressroom_content.language.grammar import find_passive, find_transition
from pressroom_content.language.packs import (
    SUPPORTED,
    LanguagePack,
    PassiveRules,
    PhraseSet,
    ReadingEase,
    Syllables,
    TransitionRules,
    common_words,
    language_pack,
    supported,
)
from pressroom_content.language.segmentation import (
    ORDINAL_LANGUAGES,
    TAG,
    count_words,
    is_unspaced,
    lowered,
    primary_subtag,
    same_language,
    split_sentences,
    split_words,
    word_parts,
    words_of,
)
from pressroom_content.language.stems import fold, infinitive_forms, snowball, stem

__all__ = [
    "ORDINAL_LANGUAGES",
    "SUPPORTED",
    "TAG",
    "LanguagePack",
    "PassiveRules",
    "PhraseSet",
    "ReadingEase",
    "Syllables",
    "TransitionRules",
    "common_words",
    "count_words",
    "find_passive",
    "find_transition",
    "fold",
    "infinitive_forms",
    "is_unspaced",
    "language_pack",
    "lowered",
    "primary_subtag",
    "run_with_languages",
    "same_language",
    "snowball",
    "split_sentences",
    "split_words",
    "stem",
    "supported",
    "word_parts",
    "words_of",
]
