"""Reading the language files."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Final

from pressroom_seo.language.pack import LanguagePack, PassiveRules, ReadingEase
from pressroom_seo.language.phrases import PhraseSet
from pressroom_seo.language.syllables import Syllables
from pressroom_seo.language.tags import primary_subtag

SUPPORTED: Final = ("de", "en", "es", "fr", "it", "nl", "pt")
"""The languages that have a file, as primary subtags."""


def language_pack(tag: str) -> LanguagePack | None:
    """Return what is known of the language of a tag such as `de-AT`, or None where there is no file for it."""
    code = primary_subtag(tag)
    return _load(code) if code in SUPPORTED else None


@cache
def _load(code: str) -> LanguagePack:
    raw = tomllib.loads((files(__package__) / "data" / f"{code}.toml").read_text("utf-8"))
    inclusive = raw.get("inclusive_language", {})
    return LanguagePack(
        code=code,
        name=raw["name"],
        function_words=_words(raw["function_words"]),
        articles=_words(raw["articles"]),
        question_words=_words(raw["question_words"]),
        abbreviations=_words(raw["abbreviations"]),
        elisions=_words(raw.get("elisions", "")),
        forms=_forms(raw.get("forms", "")),
        generic_links=PhraseSet(_lines(raw["generic_links"])),
        transitions=PhraseSet(_lines(raw["transitions"]), _lines(raw["transition_pairs"])),
        syllables=_syllables(raw["syllables"]),
        complex_syllables=raw["complex_syllables"],
        reading_ease=ReadingEase(**raw["reading_ease"]),
        passive=_passive(raw["passive"]),
        inclusive=PhraseSet(inclusive) if inclusive else None,
        inclusive_instead=inclusive,
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _forms(text: str) -> dict[str, str]:
    rows = (line.split() for line in text.splitlines() if line.strip())
    return {form: base for base, *forms in rows for form in forms}


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _syllables(raw: dict[str, Any]) -> Syllables:
    pairs = (entry.rpartition(":") for entry in raw["exceptions"].split())
    return Syllables(
        raw["nucleus"],
        mute=raw["mute"],
        subtract=raw["subtract"],
        add=raw["add"],
        exceptions={word: int(number) for word, _, number in pairs},
    )


def _passive(raw: dict[str, Any]) -> PassiveRules:
    between = [*map(re.escape, raw["between_words"].split()), *raw["between_patterns"]]
    participles = [*map(re.escape, raw["irregular"].split()), *raw["participles"]]
    return PassiveRules(
        auxiliaries=_words(raw["auxiliaries"]),
        participle=re.compile("|".join(participles)),
        not_participles=_words(raw["not_participles"]),
        between=re.compile("|".join(between)) if between else None,
        max_between=raw["max_between"],
        direction=raw["direction"],
        lower_case_only=raw.get("lower_case_only", False),
        blocked_before=_words(raw.get("blocked_before", "")),
        blocked_with=raw.get("blocked_with", ""),
        agent=raw.get("agent", ""),
        agent_auxiliaries=_words(raw.get("agent_auxiliaries", "")),
    )
