"""The contract of a language (`pressroom_content.contract.Language`)."""

from __future__ import annotations

import pickle
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from pressroom.testing.contracts import ContractSuite, Finding, PromiseBroken, expect
from pressroom.testing.contracts.suite import describe_error, run_apart

from pressroom_content.contract import Language

_WORDS: Final = (
    "",
    "a",
    "bread",
    "\u00fcber",
    "\u0645\u0631\u062d\u0628\u0627",
    "\u6771\u4eac",
    "it's",
    "x" * 200,
    "1984",
    "-",
    "\U0001f600",
)
_MANY: Final = 2000
_CPU_SECONDS_FOR_MANY: Final = 5.0

LANGUAGE: Final = ContractSuite[Language]("language")


def check_language(language: Language) -> list[Finding]:
    """Check a language against its contract, and return the broken promises. Its constructor validated its rules."""

    @asynccontextmanager
    async def opening() -> AsyncIterator[Language]:
        yield language

    return run_apart(lambda: LANGUAGE.check(opening, where=f"language {language.code}"))


@LANGUAGE.promise(
    "the stemmer returns text for every word, the same each time",
    fix="return the word itself if it is unknown; do not raise, and keep no state",
)
async def _stems(language: Language) -> None:
    for word in _WORDS if language.stemmer else ():
        try:
            first, second = language.stemmer(word), language.stemmer(word)  # type: ignore[misc]
        except Exception as error:
            raise PromiseBroken(f"{describe_error(error)} for {word[:40]!r}") from error
        expect(type(first) is str and first == second, f"{first!r:.60} and {second!r:.60} for {word[:40]!r}")
        expect(bool(first) or not word, f"nothing for {word[:40]!r}")


@LANGUAGE.promise(
    "the stemmer is fast enough for a long article",
    fix="read word lists once, when the module is imported or first used, and look words up in a dict",
)
async def _fast(language: Language) -> None:
    if language.stemmer is None:
        return
    # Measure CPU time of this thread, not wall time: a plugin must not fail on a busy machine.
    started = time.thread_time()
    for number in range(_MANY):
        language.stemmer(f"bread{number}s")
    elapsed = time.thread_time() - started
    expect(elapsed < _CPU_SECONDS_FOR_MANY, f"{elapsed:.1f} s of CPU time for {_MANY} words")


@LANGUAGE.promise(
    "worker processes can use it", fix="let the stemmer be a function of a module that worker processes can import"
)
async def _pickles(language: Language) -> None:
    copy = pickle.loads(pickle.dumps(language))  # noqa: S301 - pickled on the same line
    expect(copy == language, "the copy differs")
