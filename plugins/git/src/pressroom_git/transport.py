"""Git's protocol on top of whatever carries it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol, TypeAlias

from pressroom_content.contract import UnknownOutcome, work_beside

from pressroom_git.protocol import (
    RemoteRefs,
    fetch_request,
    filters_of,
    first_version,
    listed,
    ls_refs_request,
    push_request,
    push_result,
)

Beside: TypeAlias = Callable[..., Awaitable[Any]]
IN_PLACE: Final[Beside] = partial(work_beside, None)
"""Runs a function where it is called; for repositories that are opened without worker processes, as in tests."""

Ask: TypeAlias = Callable[[bytes], Awaitable[bytes]]
"""Makes a request of what a server says first; empty where nothing is asked."""

_QUICK_BYTES: Final = 65_536
"""Bytes of an answer that are read on the event loop; more are read in a worker process."""


@dataclass(frozen=True, slots=True)
class PushReport:
    """What a server answers to a push: the report of git's protocol, and what it said beside it."""

    content: bytes
    told: str = ""


class GitTransport(Protocol):
    """Carries requests to the server of one repository, and its answers back, within bounds.

    All raise `SiteUnavailable`, `SiteRejected` and `SiteRefused`.
    """

    title: str
    """What the server is called in messages."""

    beside: Beside
    """What runs a function in a worker process; see `BasicSite.beside`."""

    async def list_refs(self, ask: Ask) -> tuple[bytes, bytes]:
        """Return what the server says first of its branches, and its answer to what `ask` makes of that."""

    async def fetch(self, request: bytes) -> bytes:
        """Return the answer to a request for objects."""

    async def push(self, request: bytes) -> PushReport:
        """Return the answer to a push. Raises `UnknownOutcome` where it went out and no whole answer came back."""

    async def check_push(self) -> None:
        """Ask whether the credential may push, without pushing anything."""


class GitClient:
    """A repository on a server that speaks git.

    All raise `SiteUnavailable`, `SiteRejected` and `SiteRefused`; `push` raises `UnknownOutcome` besides.
    """

    def __init__(self, transport: GitTransport) -> None:
        self._transport = transport
        self.title = transport.title

    async def refs(self, branch: str = "") -> RemoteRefs:
        """Return the branch of that name, or the repository's own."""
        filters: bool | None = None

        async def ask(advertisement: bytes) -> bytes:
            nonlocal filters
            filters = await self._read(filters_of, advertisement)
            return b"" if filters is None else ls_refs_request(branch)

        advertisement, answer = await self._transport.list_refs(ask)
        if filters is None:
            refs: RemoteRefs = await self._read(first_version, advertisement)
            return refs
        names, default = await self._read(listed, answer)
        return RemoteRefs(names, default, 2, filters, filters)

    async def pack(self, refs: RemoteRefs, wanted: Sequence[str], *, commit: bool, files: bool = False) -> bytes:
        """Return what the server sends of objects by their names, for `objects_of`; see `fetch_request`."""
        return await self._transport.fetch(fetch_request(refs, wanted, commit=commit, files=files))

    async def push(self, ref: str, old: str, new: str, pack: bytes) -> str:
        """Move a branch to a new commit, and return why the server did not; empty where it did."""
        report = await self._transport.push(push_request(ref, old, new, pack))
        why = push_result(ref, report.content)
        if why is None:
            told = f": {report.told}" if report.told else ""
            raise UnknownOutcome(f"{self.title} did not say whether it took the commit{told}")
        return f"{why} ({report.told})" if why and report.told else why

    async def check_push(self) -> None:
        """Ask whether the credential may push."""
        await self._transport.check_push()

    async def _read(self, function: Callable[..., Any], content: bytes) -> Any:
        if len(content) <= _QUICK_BYTES:
            return function(content)
        return await self._transport.beside(function, content, what="the list of branches")
