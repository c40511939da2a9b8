"""Checking a text against a writing guide: rules that need no judgement."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from icu4py.breakers import SentenceBreaker

from pressroom_content.language import count_words, words_of
from pressroom_content.text_index.stems import language_of
from pressroom_content.voice.reading import reading_ease
from pressroom_content.voice.spellings import other_spellings
from pressroom_content.voice.store import Voice
from pressroom_content.voice.terms import Terms

MAX_SENTENCE_WORDS: Final = 30
MEAN_SENTENCE: Final = 20.0
MIN_EASE: Final = 50.0
"""Targets: words of a sentence, words of a sentence on average, and Flesch's reading ease, from 0 to 100."""

MAX_FINDINGS_PER_RULE: Final = 50

_MIN_WORDS: Final = 50
"""A text of fewer words has no average that means anything."""

_AROUND: Final = 30
_WORD = re.compile(r"[^\W\d_]+")

Rule = Literal["banned_term", "glossary", "spelling", "sentence_length", "reading_ease"]


@dataclass(frozen=True, slots=True)
class VoiceIssue:
    """Something in a text that breaks a rule. `position` counts characters from 0, `line` from 1.

    `found` is the text in question, `context` the same with some words around it. An `error` breaks the guide, a
    `warning` misses a target.
    """

    rule: Rule
    severity: Literal["error", "warning"]
    message: str
    fix: str
    found: str = ""
    context: str = ""
    position: int | None = None
    line: int | None = None


def check(text: str, voice: Voice, language: str = "") -> list[VoiceIssue]:
    """Return what in a text breaks a guide or misses a target, rule by rule, each in the order of the text.

    Spelling variants and reading ease are checked where the language has them; an empty one counts as English.
    """
    checked = _Text(text)
    english = language_of(language) == "en"
    found = [*_bounded(_banned(checked, voice)), *_bounded(_glossary(checked, voice))]
    if english:
        found += _bounded(_spelling(checked, voice))
    found += _bounded(_long_sentences(checked))
    found += _averages(checked, language_of(language))
    return found


class _Text:
    """A text whose places can be told."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def sentences(self) -> list[tuple[int, str]]:
        """Its sentences, with their places. Line breaks end a sentence."""
        found: list[tuple[int, str]] = []
        start = 0
        for line in self.text.splitlines(keepends=True):
            place = start
            for sentence in SentenceBreaker(line, "en"):
                found.append((place, sentence))
                place += len(sentence)
            start += len(line)
        return [(place, sentence) for place, sentence in found if sentence.strip()]

    @cached_property
    def _lines(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def finding(
        self,
        rule: Rule,
        place: int,
        found: str,
        message: str,
        fix: str,
        severity: Literal["error", "warning"] = "error",
    ) -> VoiceIssue:
        """Return a finding at a place."""
        start, end = max(0, place - _AROUND), place + len(found) + _AROUND
        return VoiceIssue(
            rule=rule,
            severity=severity,
            message=message,
            fix=fix,
            found=found,
            context=" ".join(self.text[start:end].split()),
            position=place,
            line=bisect_right(self._lines, place),
        )


def _bounded(findings: Iterator[VoiceIssue]) -> Iterator[VoiceIssue]:
    for number, finding in enumerate(findings):
        if number == MAX_FINDINGS_PER_RULE:
            return
        yield finding


def _banned(text: _Text, voice: Voice) -> Iterator[VoiceIssue]:
    for place, found, _ in Terms(dict.fromkeys(voice.banned_terms, "")).found_in(text.text):
        message = f"“{found}” is a banned term"
        yield text.finding("banned_term", place, found, message, "Say it in other words.")


def _glossary(text: _Text, voice: Voice) -> Iterator[VoiceIssue]:
    written = {other: term for term, instead_of in voice.glossary.items() for other in (*instead_of.split(","), term)}
    for place, found, term in Terms(written).found_in(text.text):
        if found == term or (found[1:] == term[1:] and _begins_sentence(text.text, place)):
            continue
        message = f"“{found}” is written “{term}”"
        yield text.finding("glossary", place, found, message, f"Write “{term}”.")


def _spelling(text: _Text, voice: Voice) -> Iterator[VoiceIssue]:
    if voice.spelling == "any":
        return
    others = other_spellings(voice.spelling)
    for match in _WORD.finditer(text.text):
        own = others.get(match[0].lower())
        if own is not None:
            own = own.upper() if match[0].isupper() else own.capitalize() if match[0][0].isupper() else own
            message = f"“{match[0]}” is not the spelling of {voice.spelling}"
            yield text.finding("spelling", match.start(), match[0], message, f"Write “{own}”.")


def _long_sentences(text: _Text) -> Iterator[VoiceIssue]:
    for place, sentence in text.sentences:
        words = count_words(sentence)
        if words > MAX_SENTENCE_WORDS:
            message = f"this sentence has {words} words; the target is at most {MAX_SENTENCE_WORDS}"
            shown = sentence.strip()[:200]
            yield text.finding("sentence_length", place, shown, message, "Split it in two.", "warning")


def _averages(text: _Text, language: str) -> Iterator[VoiceIssue]:
    words = list(words_of(text.text))
    sentences = len(text.sentences)
    if len(words) < _MIN_WORDS or not sentences:
        return
    mean = len(words) / sentences
    if mean > MEAN_SENTENCE:
        message = f"sentences have {mean:.1f} words on average; the target is at most {MEAN_SENTENCE:g}"
        yield VoiceIssue("sentence_length", "warning", message, "Make the longest ones shorter.")
    ease = reading_ease(words, sentences, language)
    if ease is not None and ease < MIN_EASE:
        message = f"the reading ease is {ease:.0f} of 100; the target is at least {MIN_EASE:.0f}"
        yield VoiceIssue("reading_ease", "warning", message, "Use shorter words and shorter sentences.")


def _begins_sentence(text: str, place: int) -> bool:
    before = text[max(0, place - _AROUND) : place].rstrip(" \"'“\u2018(")
    return before[-1] in ".!?\n:" if before else place <= _AROUND
