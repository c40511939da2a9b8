"""The parts of a contract: promises, each with a check, and findings about broken promises."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Generic, TypeVar

S = TypeVar("S")
T = TypeVar("T")

PROMISE_SECONDS: Final = 60.0
"""The time limit in seconds for the check of one promise, after which the promise counts as broken."""

_MAX_OBSERVATION_LENGTH: Final = 300


@dataclass(frozen=True, slots=True)
class Finding:
    """A promise that an implementation breaks.

    `contract` is the kind of extension point, such as `file store`; `where` identifies the implementation, such as by
    the name of a record. `promise` is a sentence that describes the requirement, `seen` the observed behaviour, `fix`
    the remedy.
    """

    contract: str
    promise: str
    where: str
    seen: str
    fix: str = ""

    def __str__(self) -> str:
        subject = f"{self.where}: " if self.where else ""
        seen = f"; got {self.seen}" if self.seen else ""
        return f"{subject}{self.promise}{seen}{f' — {self.fix}' if self.fix else ''}"


class PromiseBroken(Exception):
    """Raised by the check of a promise. The message describes the observed behaviour."""


def expect(holds: object, seen: object) -> None:
    """Check that a promise holds.

    Raises:
        PromiseBroken: it does not hold; the message is `seen`, the observed behaviour.
    """
    if not holds:
        raise PromiseBroken(shorten(seen))


async def expect_error(kinds: type[BaseException] | tuple[type[BaseException], ...], call: Awaitable[Any]) -> None:
    """Await a call that must raise an exception of one of these classes.

    Raises:
        PromiseBroken: the call returned, or raised another exception.
    """
    try:
        returned = await call
    except kinds:
        return
    except Exception as error:
        raise PromiseBroken(describe_error(error)) from error
    raise PromiseBroken(f"no error, but {shorten(repr(returned))}")


def describe_error(error: BaseException) -> str:
    """Return the class and message of an exception, cut to 300 characters."""
    return shorten(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)


def shorten(seen: object) -> str:
    """Return an observation as text, cut to 300 characters."""
    text = str(seen)
    return text if len(text) <= _MAX_OBSERVATION_LENGTH else f"{text[:_MAX_OBSERVATION_LENGTH]}…"


@dataclass(frozen=True, slots=True)
class Promise(Generic[S]):
    """One promise of a contract. `check` takes the subject, and raises an exception if the promise is broken.

    `name` is short and unique in the suite. `needs` lists properties that only some subjects have, such as
    `frozen clock`.
    """

    name: str
    text: str
    fix: str
    check: Callable[[S], Awaitable[None]]
    needs: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return self.name


@dataclass(slots=True)
class ContractSuite(Generic[S]):
    """The promises of one extension point. `contract` is its name in findings."""

    contract: str
    promises: list[Promise[S]] = field(default_factory=list)

    def promise(
        self, text: str, *, fix: str, needs: Collection[str] = ()
    ) -> Callable[[Callable[[S], Awaitable[None]]], Callable[[S], Awaitable[None]]]:
        """Return a decorator that adds an async function as the check of a promise, under the function's name."""

        def add(check: Callable[[S], Awaitable[None]]) -> Callable[[S], Awaitable[None]]:
            name = getattr(check, "__name__", "").strip("_")
            self.promises.append(Promise(name, text, fix, check, frozenset(needs)))
            return check

        return add

    def applicable(self, has: Collection[str] = (), excluded: Collection[str] = ()) -> list[Promise[S]]:
        """Return the promises that apply to a subject that `has` these properties, without the `excluded` names."""
        return [promise for promise in self.promises if promise.needs <= set(has) and promise.name not in excluded]

    async def check_one(
        self,
        promise: Promise[S],
        opening: Callable[[], AbstractAsyncContextManager[S]],
        *,
        where: str = "",
        seconds: float = PROMISE_SECONDS,
    ) -> list[Finding]:
        """Check one promise on a new subject, and return a list with at most one finding."""

        async def check() -> None:
            async with opening() as subject:
                await promise.check(subject)

        # Use a separate task, so that an implementation that swallows CancelledError cannot block the check.
        task = asyncio.ensure_future(check())
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if not done:
            task.cancel()
            await asyncio.wait({task}, timeout=1)
            seen = f"no end within {seconds:g} s"
        elif task.cancelled():
            seen = "CancelledError"
        elif (error := task.exception()) is None:
            return []
        else:
            seen = str(error) if isinstance(error, PromiseBroken) else describe_error(error)
        return [Finding(self.contract, promise.text, where, seen, promise.fix)]

    async def check(
        self,
        opening: Callable[[], AbstractAsyncContextManager[S]],
        *,
        where: str = "",
        has: Collection[str] = (),
        excluded: Collection[str] = (),
        seconds: float = PROMISE_SECONDS,
    ) -> list[Finding]:
        """Check each promise in turn on a new subject, and return all findings.

        Args:
            opening: returns a context manager of a new subject; called once for each promise.
            where: the name of the implementation in findings.
            has: properties of the subject, which some promises need.
            excluded: names of promises to skip.
            seconds: the time limit for the check of one promise.
        """
        findings: list[Finding] = []
        for promise in self.applicable(has, excluded):
            findings += await self.check_one(promise, opening, where=where, seconds=seconds)
        return findings


def run_apart(making: Callable[[], Awaitable[T]]) -> T:
    """Run a coroutine in a new event loop in a separate thread, and return its result.

    This also works if an event loop is already running, as in an asynchronous test. Exceptions of the coroutine are
    passed on.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    async def run() -> None:
        results.append(await making())

    def work() -> None:
        try:
            asyncio.run(run())
        except BaseException as error:  # noqa: BLE001 - it belongs to the caller's thread
            errors.append(error)

    thread = threading.Thread(target=work, name="pressroom-contract", daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


class ContractTests(Generic[S]):
    """The base of the classes with which pytest runs a contract, one test for each promise.

    `excluded` maps the names of promises that an implementation cannot keep to the reasons; they are not tested.
    """

    suite: ClassVar[ContractSuite[Any]]
    has: ClassVar[Collection[str]] = ()
    excluded: ClassVar[Mapping[str, str]] = {}

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """Create a test for each promise. Called by pytest."""
        if "promise" in metafunc.fixturenames:
            metafunc.parametrize("promise", self.suite.applicable(self.has, self.excluded), ids=str)

    def assert_fulfilled(self, promise: Promise[S], opening: Callable[[], AbstractAsyncContextManager[S]]) -> None:
        """Check one promise. Raises `AssertionError` with the finding if it is broken."""
        findings = run_apart(lambda: self.suite.check_one(promise, opening, where=type(self).__name__))
        if findings:
            raise AssertionError(str(findings[0]))
