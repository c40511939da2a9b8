"""Services of the host for plugins: fetching URLs, processing untrusted input, and calling the tools of others."""

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
    """Mark all fetches in a block as publishing. The server reserves connections for them, so they do not have to wait.

    All other fetches share the rest, for calls of accounts, background jobs and images for anonymous callers. One
    account may use at most a quarter of the connections.
    """
    token = _PUBLISHING.set(True)
    try:
        yield
    finally:
        _PUBLISHING.reset(token)


def publishing_now() -> bool:
    """Return whether the current code is in a `publishing` block."""
    return _PUBLISHING.get()


@dataclass(frozen=True, slots=True)
class Fetched:
    """A response, with its final URL after redirects."""

    url: str
    status: int
    media_type: str
    """The `Content-Type` in lower case without parameters; empty if absent. The sender may be wrong about it."""

    content: bytes

    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers by name in lower case; several values are joined by a comma and a space (RFC 9110, section 5.3)."""

    redirects: tuple[str, ...] = ()
    """The URLs that redirected to `url`, in order."""


@dataclass(frozen=True, slots=True)
class FetchResponse:
    """The unprocessed response to one request: redirects are not followed, and content is not decompressed."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    """Names in lower case and values, in the order in which they were received; a name may occur several times."""

    content: bytes
    whole: bool
    """Whether `content` is complete; otherwise, it was cut at the limit."""

    first_byte: float
    """Seconds from the start of the request, including DNS lookup and connecting, to the head of the response."""

    seconds: float
    """Total seconds of the request."""


@runtime_checkable
class Fetcher(Protocol):
    """Fetches untrusted URLs, only over https and only from the public internet.

    Every URL is checked, including those of redirects. Operators can allow their own networks in
    `[fetch] private_networks`; any port and plain http can be used there. `connect` is for protocols other than HTTP.

    Fetches count for the account or the anonymous client whose call or job makes them. Each of these has a share of the
    server's connections, and its fetches wait for their turn within their `seconds`; see `publishing`. The total size
    of what is fetched for anonymous clients is limited until their calls end; beyond the limit, a fetch raises
    `CallError` with the code `overloaded`, which you should not catch.
    """

    async def get(self, url: str, *, accept: str, max_bytes: int, seconds: float, redirects: int = 3) -> Fetched:
        """Return the response of a URL, whatever its status.

        `accept` is the `Accept` header. The content may have at most `max_bytes`, and the whole request may take at
        most `seconds`. Raises `FetchRefused` if the URL is not allowed or the response exceeds a limit, and
        `FetchFailed` if there is no complete response in time.
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
        """Send a request with any method, such as one to the API of a user's site, and return the response.

        `headers` are sent unchanged, but only to the host of `url`: redirects to other hosts are followed without them.
        Only `GET` and `HEAD` may be redirected. Without `redirects`, a redirect is returned like any other response.
        Raises the same errors as `get`, and `FetchUnknown` if the request was sent and no complete response came back,
        in which case it is unknown whether it took effect.
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
        """Return the response to one request, whatever its status. A redirect is returned like any other response.

        `encodings` is the `Accept-Encoding` header. The content, still encoded, is cut after `max_bytes`. `plain_http`
        also allows `http://` on port 80, for programs that examine sites. Raises the same errors as `get`.
        """

    def connect(
        self, host: str, port: int, *, seconds: float
    ) -> AbstractAsyncContextManager[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """Connect to a host for a protocol other than HTTP, such as SSH; the connection lasts as long as the block.

        The host is checked like that of a URL: it must be a domain name or an IP address on the public internet, and
        the port must be 22 or 443. The caller limits what is sent and read; the block may take at most `seconds`,
        including DNS lookup and connecting. Raises `FetchRefused` and `FetchFailed` like `get`, and `FetchUnknown` if
        the time is up after the connection was made.

            async with fetcher.connect("git.example.org", 22, seconds=20) as (reader, writer):
                banner = await reader.readline()
        """


T = TypeVar("T")


@runtime_checkable
class Workers(Protocol):
    """Worker processes for texts, pages, images and other files of users.

    Do not process these in a thread: a single regular expression or parser that does not return blocks the whole
    server, and nothing can stop it. A worker process can be killed and replaced.
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
        """Run a function in a worker process, and return its result.

        Args:
            function: a module-level function, or a `functools.partial` of one; the worker process imports it.
            arguments: its arguments. They are pickled, and so is the result.
            owner: who the work is for, such as an account's id; by default, the account of this call or job, if any. No
                owner can use all worker processes.
            what: a phrase for what is processed, used in messages, such as `the article`.
            seconds: how long the function may take once it starts.
            memory_mib: how much memory it may allocate, in MiB.

        Raises:
            Overloaded: too much work is waiting already, or the server is shutting down.
            CallTimeout: the function took too long, and was stopped.
            PressroomError: any error of this tree that the function raised, unchanged.
            InternalError: the function needed more memory, ended its process, or raised any other exception. The log
                has the reason.
        """


def calling_in_worker(plugin: str, what: str, *, seconds: float = 10.0) -> AbstractContextManager[None]:
    """Return a context manager for calling contributed code in a worker process.

    It is the equivalent of `Extensions.calling` for functions that `Workers.run` runs, where there is no
    `PluginContext`. Pressroom's own errors are passed on. The server counts and logs any other exception, including
    `SystemExit`, and a call that takes too long, as a failure of the plugin, and it becomes a `PluginError`. If the
    process has to be killed, or dies, the plugin is named as well, and the error of `Workers.run` has a `PluginError`
    as its `__cause__`.

    In the server's own process, it only converts exceptions: there is no time limit, and nothing is counted.

    Args:
        plugin: the id of the plugin that contributed it, from `Extensions.of`.
        what: the name of the called code in the log and in `pressroom plugins list`, such as `stemmer eo`.
        seconds: how long the block may take.
    """
    return _contain(plugin, what, seconds)


@contextmanager
def _contain_here(plugin: str, what: str, _seconds: float) -> Iterator[None]:
    try:
        yield
    except PressroomError:
        raise
    except Exception as error:
        raise PluginError(f"{what} failed: {type(error).__name__}: {error}", plugin=plugin) from error


_contain: Callable[[str, str, float], AbstractContextManager[None]] = _contain_here


def contain_in_worker_with(contain: Callable[[str, str, float], AbstractContextManager[None]]) -> None:
    """Set the implementation of `calling_in_worker`. Worker processes call this when they start."""
    global _contain  # noqa: PLW0603 - one for the whole process
    _contain = contain


@runtime_checkable
class Tools(Protocol):
    """The generators of this server, from all plugins."""

    async def make_file(self, slug: str, params: Mapping[str, Any]) -> tuple[bytes, str]:
        """Run a generator on behalf of the server, and return the file and its media type.

        The call goes through the server's pipeline with its executors and its cache, but does not count for limits,
        quotas or observers. `params` are those of the tool's API. Raises `NotFound` if the generator does not exist or
        the operator disabled it, `InvalidInput` for invalid parameters, and another `CallError` if it fails.
        """

    async def read_file(self, url: str) -> bytes | None:
        """Return the file behind a signed link of this server, without a network request.

        Returns `None` for any other URL, for a link that was altered, has expired or whose file is gone, and if files
        are in a bucket, which counts as another host. Raises `BackendError` if the file cannot be read.
        """
