"""What is known of each language: word lists, rules and formulas, a TOML file per language under `data/`."""

from pressroom_seo.language.detection import Detection, detect_language
from pressroom_seo.language.load import SUPPORTED, language_pack
from pressroom_seo.language.pack import LanguagePack, PassiveRules, ReadingEase
from pressroom_seo.language.phrases import PhraseSet
from pressroom_seo.language.stems import fold, infinitive_forms, stem
from pressroom_seo.language.syllables import Syllables
from pressroom_seo.language.tags import TAG, primary_subtag, same_language

__all__ = [
    "SUPPORTED",
    "TAG",
    "Detection",
    "LanguagePack",
    "PassiveRules",
    "PhraseSet",
    "ReadingEase",
    "Syllables",
    "detect_language",
    "fold",
    "infinitive_forms",
    "language_pack",
    "primary_subtag",
    "same_language",
    "stem",
]
