"""The format of a language's rules: a TOML document of word lists, patterns and formulas.

Word lists are strings: words are separated by spaces, phrases by line breaks, and all are in lower case.
"""

from __future__ import annotations

import re
import tomllib
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

MAX_LENGTH: Final = 500_000
"""Maximum length of the document, in characters."""


class InvalidRules(ValueError):
    """The rules of a language are invalid; the message lists every error with its key."""


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from None
    return text


def _counts(text: str) -> str:
    for entry in text.split():
        word, _, number = entry.rpartition(":")
        if not word or not number.isdecimal():
            raise ValueError(f"{entry!r} must be a word and its number of syllables, such as museum:3")
    return text


def _pairs(text: str) -> str:
    for line in filter(str.strip, text.splitlines()):
        first, dots, second = line.partition("...")
        if not (first.strip() and dots and second.strip()):
            raise ValueError(f"{line.strip()!r} must be two phrases with three dots between them")
    return text


Pattern = Annotated[str, AfterValidator(_pattern)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _ReadingEase(_Section):
    name: str
    base: float
    sentence: float
    syllable: float
    good: float
    ok: float
    source: str


class _Syllables(_Section):
    nucleus: Annotated[Pattern, Field(min_length=1)]
    mute: list[Pattern] = []
    subtract: list[Pattern] = []
    add: list[Pattern] = []
    exceptions: Annotated[str, AfterValidator(_counts)] = ""


class _Passive(_Section):
    auxiliaries: str
    participles: list[Pattern]
    irregular: str = ""
    not_participles: str = ""
    between_words: str = ""
    between_patterns: list[Pattern] = []
    max_between: int = Field(default=5, ge=0, le=100)
    direction: Literal["after", "both"] = "after"
    lower_case_only: bool = False
    blocked_before: str = ""
    blocked_with: str = ""
    agent: str = ""
    agent_auxiliaries: str = ""


class LanguageRules(_Section):
    """The keys of the document. Keys without a default are required."""

    name: Annotated[str, Field(min_length=1, max_length=60)]
    function_words: Annotated[str, Field(min_length=1)]
    syllables: _Syllables
    reading_ease: _ReadingEase
    passive: _Passive
    complex_syllables: int = Field(default=4, ge=2, le=20)
    common_words: str = ""
    articles: str = ""
    question_words: str = ""
    abbreviations: str = ""
    elisions: str = ""
    forms: str = ""
    generic_links: str = ""
    transitions: str = ""
    transition_pairs: Annotated[str, AfterValidator(_pairs)] = ""
    opening_transitions: str = ""
    clause_transitions: str = ""
    closing_transitions: str = ""
    not_transitions: list[Pattern] = []
    inclusive_language: dict[str, str] = {}


def read_rules(text: str) -> dict[str, Any]:
    """Return the rules of a language, with a value for every key.

    Raises:
        InvalidRules: it is not TOML, a key is missing or unknown, or a value does not have the expected format.
    """
    if len(text) > MAX_LENGTH:
        raise InvalidRules(f"rules must be a text of at most {MAX_LENGTH:,} characters in TOML")
    try:
        return LanguageRules.model_validate(tomllib.loads(text)).model_dump()
    except tomllib.TOMLDecodeError as error:
        raise InvalidRules(f"rules are not TOML: {error}") from None
    except ValidationError as error:
        raise InvalidRules(
            "; ".join(_worded(details["loc"], details["msg"], details["type"]) for details in error.errors())
        ) from None


def _worded(location: tuple[int | str, ...], message: str, kind: str) -> str:
    name = ".".join(map(str, location))
    if kind == "extra_forbidden":
        return f"rules have no key {name}; the keys are {', '.join(LanguageRules.model_fields)}"
    return f"rules.{name} {'is missing' if kind == 'missing' else message.removeprefix('Value error, ')}"
