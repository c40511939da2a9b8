"""The languages that plugins add to those with a file, in this process.

The server puts them to use when it starts. Worker processes are given them with each call, by `run_with_languages`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeVar

import structlog
from pressroom.sdk import PressroomError, Workers, calling_in_worker

log = structlog.get_logger()

T = TypeVar("T")

MAX_STEM_LENGTH: Final = 80
"""A longer text is not the stem of a word, which has at most 60 characters."""

_STEM_SECONDS: Final = 5.0
"""How long a stemmer may take for a word, in a worker process."""


@dataclass(frozen=True, slots=True)
class ContributedLanguage:
    """A language with the id of the plugin that it came from. See `contract.Language`."""

    plugin: str
    code: str
    rules: str
    stemmer: Callable[[str], str] | None = None


class InvalidStem(Exception):
    """A stemmer returned something that is not the stem of a word."""


class _Active:
    """What is in use. `broken` holds the languages whose stemmer failed here; their words are taken as written."""

    def __init__(self) -> None:
        self.languages: tuple[ContributedLanguage, ...] = ()
        self.by_code: Mapping[str, ContributedLanguage] = MappingProxyType({})
        self.broken: set[str] = set()
        self.caches: list[Callable[[], None]] = []


_active = _Active()


def use(languages: Sequence[ContributedLanguage]) -> None:
    """Put languages to use in this process, instead of those that were."""
    if tuple(languages) == _active.languages:
        return
    _active.languages = tuple(languages)
    _active.by_code = MappingProxyType({one.code: one for one in languages})
    _active.broken = set()
    for clear in _active.caches:
        clear()


def clear_with(clear: Callable[[], None]) -> None:
    """Have a cache cleared whenever other languages are put to use."""
    _active.caches.append(clear)


def in_use() -> tuple[ContributedLanguage, ...]:
    """Return the languages that are in use in this process."""
    return _active.languages


def contributed(code: str) -> ContributedLanguage | None:
    """Return a language that a plugin added, by its primary subtag."""
    return _active.by_code.get(code)


def contributed_stem(word: str, code: str) -> str | None:
    """Return the stem of a word by the stemmer of a plugin, or `None` where the language has none.

    A stemmer that fails is not asked again in this process: the words of its language are their own stems from then on.
    """
    language = _active.by_code.get(code)
    if language is None or language.stemmer is None:
        return None
    if code in _active.broken:
        return word
    try:
        with calling_in_worker(language.plugin, f"stemmer {code}", seconds=_STEM_SECONDS):
            return checked_stem(language.stemmer, word)
    except PressroomError:
        # It belongs to another plugin; what somebody has written must not be lost for its sake.
        log.exception("a stemmer failed; words are taken as they are written", plugin=language.plugin, language=code)
        _active.broken.add(code)
        return word


def checked_stem(stemmer: Callable[[str], str], word: str) -> str:
    """Return what a stemmer makes of a word. Raises `InvalidStem`, and whatever the stemmer raises."""
    found: object = stemmer(word)
    if not isinstance(found, str) or not found or len(found) > MAX_STEM_LENGTH or found.split() != [found]:
        raise InvalidStem(f"the stemmer returned {str(found)[:80]!r} for {word!r}; it must return one word")
    return found


async def run_with_languages(workers: Workers, function: Callable[..., T], *arguments: Any, **options: Any) -> T:
    """Run a function in a worker process that knows the languages of this one. See `Workers.run`."""
    languages = in_use()
    if not languages:
        return await workers.run(function, *arguments, **options)
    return await workers.run(_run, languages, function, *arguments, **options)


def _run(languages: Sequence[ContributedLanguage], function: Callable[..., T], *arguments: Any) -> T:
    use(languages)
    return function(*arguments)
