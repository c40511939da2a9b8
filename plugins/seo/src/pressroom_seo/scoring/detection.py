"""Which language a text is written in, by py3langid (letter statistics of about 120 languages)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

_SAMPLE: Final = 3000
"""How many characters are read: more changes nothing but the time."""

_SURE: Final = 0.8
"""From this confidence on the answer is taken as known; short texts and mixtures stay below."""

_MIN_LENGTH: Final = 120
"""Texts with fewer characters say too little."""


@dataclass(frozen=True, slots=True)
class Detection:
    """`language` is a primary subtag; `confidence` is 0 to 1."""

    language: str
    confidence: float


def detect_language(text: str) -> Detection | None:
    """Return the language of the text, or None where it is too short or too mixed to tell."""
    sample = text[:_SAMPLE].strip()
    if len(sample) < _MIN_LENGTH and sample.isascii():
        return None
    found, confidence = _identifier().classify(sample)
    if confidence < _SURE or found == "zxx" or not found:
        return None
    return Detection(str(found), round(float(confidence), 3))


def load() -> None:
    """Load what the first text would wait for."""
    _identifier()


@cache
def _identifier() -> LanguageIdentifier:
    # The model takes about a second to load, so it is loaded by the first text and kept.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
