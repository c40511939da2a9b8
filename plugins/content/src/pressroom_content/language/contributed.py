"""Languages that plugins contribute in addition to the built-in ones, as they are active in this process.

The server activates them when it starts. `run_with_languages` passes them to worker processes with each call.
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
"""Maximum length of a stem; only words of up to 60 characters are stemmed."""

_STEM_SECONDS: Final = 5.0
"""Time limit for a stemmer and one word, in a worker process."""


@dataclass(frozen=True, slots=True)
class ContributedLanguage:
    """A language with the id of its plugin. See `contract.Language`."""

    plugin: str
    code: str
    rules: str
    stemmer: Callable[[str], str] | None = None


class InvalidStem(Exception):
    """A stemmer returned something other than a single word."""


class _Active:
    """The active languages. `broken` lists those whose stemmer failed in this process; their words stay unstemmed."""

    def __init__(self) -> None:
        self.languages: tuple[ContributedLanguage, ...] = ()
        self.by_code: Mapping[str, ContributedLanguage] = MappingProxyType({})
        self.broken: set[str] = set()
        self.caches: list[Callable[[], None]] = []


_active = _Active()


def use(languages: Sequence[ContributedLanguage]) -> None:
    """Activate languages in this process, replacing the active ones."""
    if tuple(languages) == _active.languages:
        return
    _active.languages = tuple(languages)
    _active.by_code = MappingProxyType({language.code: language for language in languages})
    _active.broken = set()
    _clear_caches()


def clear_with(clear: Callable[[], None]) -> None:
    """Register a function that clears a cache whenever the active languages change, or a stemmer fails."""
    _active.caches.append(clear)


def _clear_caches() -> None:
    for clear in _active.caches:
        clear()


def in_use() -> tuple[ContributedLanguage, ...]:
    """Return the languages that are active in this process."""
    return _active.languages


def contributed(code: str) -> ContributedLanguage | None:
    """Return a contributed language by its primary subtag, or `None`."""
    return _active.by_code.get(code)


def contributed_stem(word: str, code: str) -> str | None:
    """Return the stem of a word from a plugin's stemmer, or `None` if the language has none.

    A stemmer that fails is not called again in this process: the words of its language are then their own stems.
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
        # The stemmer belongs to another plugin; its failure must not lose the author's text.
        log.exception("a stemmer failed; words are taken as they are written", plugin=language.plugin, language=code)
        _active.broken.add(code)
        _clear_caches()  # a word with its earlier stem would no longer match its other forms
        return word


def checked_stem(stemmer: Callable[[str], str], word: str) -> str:
    """Return a stemmer's result for a word. Raises `InvalidStem`, and whatever the stemmer raises."""
    result: object = stemmer(word)
    if not isinstance(result, str) or not result or len(result) > MAX_STEM_LENGTH or result.split() != [result]:
        raise InvalidStem(f"the stemmer returned {str(result)[:80]!r} for {word!r}; it must return one word")
    return result


async def run_with_languages(workers: Workers, function: Callable[..., T], *arguments: Any, **options: Any) -> T:
    """Run a function in a worker process that has the same active languages. See `Workers.run`."""
    languages = in_use()
    if not languages:
        return await workers.run(function, *arguments, **options)
    return await workers.run(_run, languages, function, *arguments, **options)


def _run(languages: Sequence[ContributedLanguage], function: Callable[..., T], *arguments: Any) -> T:
    use(languages)
    return function(*arguments)
