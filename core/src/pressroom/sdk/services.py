"""What the host does for plugins: fetching URLs, working on untrusted input, and calling the tools of others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, TypeVar, runtime_checkable

from pressroom.errors import PluginError, PressroomError

_PUBLISHING: Final[ContextVar[bool]] = ContextVar("publishing", default=False)


@contextmanager
def publishing() -> Iterator[None]:
    """Mark all fetches of a block as publishing, for which the server keeps places: they wait for no other kind.

    Everything else shares what is left: calls of accounts, background jobs and the images of anonymous callers. One
    account has a quarter of the places at most.
    """
    token = _PUBLISHING.set(True)
    try:
        yield
    finally:
        _PUBLISHING.reset(token)


def publishing_now() -> bool:
    """Tell whether this is in a block of `publishing`."""
    return _PUBLISHING.get()


@dataclass(frozen=True, slots=True)
class Fetched:
    """The answer: where it came from in the end, and what it was."""

    url: str
    status: int
    media_type: str
    """The `Content-Type` in lower case without parameters; empty if absent. It is the sender's claim."""

    content: bytes

    headers: Mapping[str, str] = field(default_factory=dict)
    """By their names in lower case; values of one name are joined by a comma and a space (RFC 9110, section 5.3)."""

    redirects: tuple[str, ...] = ()
    """The URLs that led to `url`, in their order."""


@dataclass(frozen=True, slots=True)
class FetchResponse:
    """The answer to one request, as it came: redirects are not followed and compressed content is not unpacked."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    """Names in lower case and values, in the order in which they came; one name may come several times."""

    content: bytes
    whole: bool
    """Whether `content` is all that was sent; otherwise it ends at the bound."""

    first_byte: float
    """Seconds from the beginning of the request, with looking up and connecting, until the head of the answer."""

    seconds: float
    """Seconds that all of it took."""


@runtime_checkable
class Fetcher(Protocol):
    """Fetches untrusted URLs, over https and from the public internet only.

    Every URL is checked, that of a redirect too. Networks of their own are allowed by operators, who name them in
    `[fetch] private_networks`; there any port, and plain http, will do. `connect` is for protocols other than HTTP.

    Fetches count as those of the account or the anonymous client whose call or job makes them. Each has a share of
    the server's connections and waits for its turn, within its `seconds`; see `publishing`. What is fetched for
    anonymous clients is bounded in bytes until their call ends; beyond it a fetch raises `CallError` with the code
    `overloaded`, which is best left to the server.
    """

    async def get(self, url: str, *, accept: str, max_bytes: int, seconds: float, redirects: int = 3) -> Fetched:
        """Return what is at a URL, whatever its status is.

        `accept` is the `Accept` header. The content has at most `max_bytes`; all of it takes at most this many
        `seconds`. Raises `FetchRefused` where the URL is not allowed or the answer breaks a bound, and `FetchFailed`
        where there was no whole answer in time.
        """

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes = b"",
        max_bytes: int,
        seconds: float,
        redirects: int = 0,
    ) -> Fetched:
        """Send a request of any method, such as one to the API of somebody's site, and return the answer.

        `headers` go out as they are, to the host of `url` only: a redirect elsewhere is followed without them. Only
        `GET` and `HEAD` may be redirected. Without `redirects` an answer that redirects is returned like any other.
        Raises what `get` does, and `FetchUnknown` where the request went out and no whole answer came back: whoever
        sent it cannot know whether it had an effect.
        """

    async def exchange(
        self,
        url: str,
        *,
        accept: str,
        max_bytes: int,
        seconds: float,
        method: Literal["GET", "HEAD"] = "GET",
        encodings: str = "identity",
        plain_http: bool = False,
    ) -> FetchResponse:
        """Return the answer to one request, whatever its status is. A redirect is an answer like any other.

        `encodings` is the `Accept-Encoding` header. Content of more than `max_bytes`, as it is sent, is cut there.
        `plain_http` allows `http://` on port 80 too, for programs that examine sites. Raises as `get` does.
        """

    def connect(
        self, host: str, port: int, *, seconds: float
    ) -> AbstractAsyncContextManager[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """Connect to a host for a protocol other than HTTP, such as SSH; the connection lasts as long as the block.

        The host is checked as that of a URL is: a domain name or an IP address on the public internet, and port 22 or
        443. What is sent and read is bounded by the caller; the block takes at most this many `seconds`, with
        looking up and connecting. Raises `FetchRefused` and `FetchFailed` as `get` does, and `FetchUnknown` where the
        time is over once the connection was made.

            async with fetcher.connect("git.example.org", 22, seconds=20) as (reader, writer):
                banner = await reader.readline()
        """


T = TypeVar("T")


@runtime_checkable
class Workers(Protocol):
    """Worker processes for texts, pages, images and other files of people.

    Do not process them on a thread: one regular expression or parser that does not return keeps the whole server
    waiting, and nothing can end it. A worker process is ended, and replaced.
    """

    async def run(
        self,
        function: Callable[..., T],
        *arguments: Any,
        owner: str = "",
        what: str = "it",
        seconds: float = 20.0,
        memory_mib: int = 512,
    ) -> T:
        """Run a function in a worker process, and return what it returned.

        Args:
            function: one that a module has by its name, or a `functools.partial` of one; it is imported there.
            arguments: what it is called with. They, and what it returns, are pickled.
            owner: who the work is for, such as an account's id; empty means the one whose call or job this is, if it
                is anybody's. No owner holds all places.
            what: what is worked on, in words for messages, such as `the article`.
            seconds: how long it may take, from 0, once its turn has come.
            memory_mib: how much memory it may allocate, in MiB.

        Raises:
            Overloaded: too much work waits already, or the server shuts down.
            CallTimeout: it took longer, and was ended.
            PressroomError: whatever of this tree the function raised, as it was.
            InternalError: it needed more memory, ended its process, or raised anything else. The log has the reason.
        """


def calling_in_worker(plugin: str, what: str, *, seconds: float = 10.0) -> AbstractContextManager[None]:
    """Contain what others contributed, while a function in a worker process calls it in a `with` block.

    It is `Extensions.calling` for functions that `Workers.run` runs: there is no `PluginContext`. Errors of Pressroom's
    own kinds come through. Whatever else is raised, also `SystemExit`, and a call that takes too long, is counted and
    logged by the server as a failure of the plugin, and comes out as `PluginError`. Where the process has to be killed,
    or dies, the plugin is named as well, and the error of `Workers.run` has a `PluginError` as its `__cause__`.

    In the server's own process it contains what is raised, without a bound on time, and counts nothing.

    Args:
        plugin: the id of the plugin that contributed it, as `Extensions.of` gives it.
        what: what is called, for the log and for `pressroom plugins list`, such as `stemmer eo`.
        seconds: how long the block may take.
    """
    return _contain(plugin, what, seconds)


@contextmanager
def _contain_here(_plugin: str, what: str, _seconds: float) -> Iterator[None]:
    try:
        yield
    except PressroomError:
        raise
    except Exception as error:
        raise PluginError(f"{what} failed: {type(error).__name__}: {error}") from error


_contain: Callable[[str, str, float], AbstractContextManager[None]] = _contain_here


def contain_in_worker_with(contain: Callable[[str, str, float], AbstractContextManager[None]]) -> None:
    """Have `calling_in_worker` use this function; worker processes do so."""
    global _contain  # noqa: PLW0603 - one for the whole process
    _contain = contain


@runtime_checkable
class Tools(Protocol):
    """The generators of this server, whichever plugin they came from."""

    async def make_file(self, slug: str, params: Mapping[str, Any]) -> tuple[bytes, str]:
        """Run a generator as the server itself would, and return the file and its media type.

        It passes the server's pipeline with its executors and its cache; no limit, no quota and no observer counts it.
        `params` are those of the tool's API. Raises `NotFound` where there is no such generator, or the operator
        switched it off, `InvalidInput` for parameters that it does not take, and another `CallError` where it failed.
        """

    async def read_file(self, url: str) -> bytes | None:
        """Return a file of this server by the signed link that a client was given, without a request over the network.

        `None` for any other URL, for a link that is altered, has expired, or whose file is gone, and where the files
        are in a bucket, which is reached like any other host. Raises `BackendError` where it cannot be read.
        """
