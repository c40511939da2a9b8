"""Git's protocol: packet lines, what is asked of servers, and how their answers are read.

Both versions of the protocol (git-scm.com/docs/protocol-v2, git-scm.com/docs/pack-protocol) are the same over HTTP and
over SSH, and both are made of packet lines (git-scm.com/docs/protocol-common).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol, TypeAlias

from pressroom_content.contract import SiteRefused, SiteUnavailable, UnknownOutcome, work_beside

from pressroom_git.snapshot import Objects, read_pack

MAX_PACK_BYTES: Final = 64_000_000
MAX_REFS_BYTES: Final = 8_000_000
MAX_REPORT_BYTES: Final = 65_536

_ZERO: Final = "0" * 40
_PACK_BAND, _ERROR_BAND = 1, 3
_ANY_OBJECT: Final = frozenset({b"allow-tip-sha1-in-want", b"allow-reachable-sha1-in-want"})
"""What servers that show any object say in the first version; `uploadpack.allowAnySHA1InWant` is both."""


@dataclass(frozen=True, slots=True)
class RemoteRefs:
    """The branches of a repository by their full names, and which one it calls its own; what its server can do.

    `filters` tells that it can leave files out, `by_name` that it sends a file by the name of its object.
    """

    names: Mapping[str, str]
    default: str
    version: int
    filters: bool
    by_name: bool


def ls_refs_request(branch: str) -> bytes:
    """Return the request for a branch, or for all where the name is empty, in the second version."""
    prefix = f"refs/heads/{branch}" if branch else "refs/heads/"
    return lines([b"command=ls-refs\n", None, b"symrefs\n", b"ref-prefix HEAD\n", f"ref-prefix {prefix}\n".encode()])


def fetch_request(refs: RemoteRefs, wanted: Sequence[str], *, commit: bool, files: bool) -> bytes:
    """Return the request for objects by their names.

    A commit comes with its trees; `files` tells whether its files come too, where the server can leave them out.
    """
    filtered = commit and refs.filters and not files
    wants = [f"want {one}".encode() for one in wanted]
    if refs.version == 2:
        body: list[bytes | None] = [b"command=fetch\n", None, b"no-progress\n", b"ofs-delta\n"]
        if commit:
            body += [b"deepen 1\n", *([b"filter blob:none\n"] if filtered else [])]
        return lines([*body, *(one + b"\n" for one in wants), b"done\n"])
    able = b" ofs-delta side-band-64k no-progress shallow" + (b" filter" if filtered else b"") + b"\n"
    content = b"".join(packet(one + (b"\n" if at else able)) for at, one in enumerate(wants))
    if commit:
        content += packet(b"deepen 1\n") + (packet(b"filter blob:none\n") if filtered else b"")
    return content + FLUSH + packet(b"done\n")


def push_request(ref: str, old: str, new: str, pack: bytes) -> bytes:
    """Return the request to move a branch to a new commit, whose objects are in the pack."""
    return packet(f"{old or _ZERO} {new} {ref}\0 report-status agent=pressroom\n".encode()) + FLUSH + pack


def push_result(ref: str, report: bytes) -> str | None:
    """Return why a server did not move a branch: empty where it did, `None` where it does not say."""
    status = [line.decode(errors="replace").strip() for line in packets(report) if line]
    told = next((line for line in status if line.startswith(("ok ", "ng "))), "")
    if told == f"ok {ref}":
        return ""
    unpacked = next((line for line in status if line.startswith("unpack ")), "")
    if not told and not unpacked:
        return None
    return said(told.removeprefix(f"ng {ref}").strip() or unpacked)


def objects_of(answer: bytes, title: str) -> Objects:
    """Return the objects in an answer with a pack. It is anybody's: call it in a worker process.

    Raises:
        SiteUnavailable: the server failed, or what it sent cannot be read.
        SiteRefused: the server refused the request.
    """
    made = bytearray()
    for line in packets(answer):
        if line is None or not line:
            continue
        if line.startswith(b"ERR "):
            raise SiteRefused(f"{title} refused this: {said(line[4:])}")
        if line[0] == _PACK_BAND:
            made += line[1:]
        elif line[0] == _ERROR_BAND:
            raise SiteUnavailable(f"{title} failed: {said(line[1:])}")
    return read_pack(made)


def filters_of(advertisement: bytes) -> bool | None:
    """Tell whether a server can leave files out; `None` where it speaks the first version of the protocol."""
    found = _advertised(advertisement)
    if next(found, b"").strip() != b"version 2":
        return None
    return any(line.startswith(b"fetch=") and b"filter" in line.split(b"=", 1)[1].split() for line in found)


def listed(answer: bytes) -> tuple[Mapping[str, str], str]:
    """Return the branches by their full names, and which one the repository calls its own."""
    names, default = {}, ""
    for line in packets(answer):
        name, _, rest = (line or b"").decode(errors="replace").strip().partition(" ")
        ref, *attributes = rest.split(" ")
        if ref == "HEAD":
            default = next((one[14:] for one in attributes if one.startswith("symref-target:")), default)
        elif ref.startswith("refs/heads/"):
            names[ref] = name
    return names, default


def first_version(advertisement: bytes) -> RemoteRefs:
    """Return the branches as servers list them that speak the first version of the protocol."""
    names, default, able = {}, "", b""
    for number, line in enumerate(_advertised(advertisement)):
        shown, _, more = line.partition(b"\0")
        able = more if number == 0 else able
        name, _, ref = shown.decode(errors="replace").strip().partition(" ")
        if ref.startswith("refs/heads/"):
            names[ref] = name
    can = frozenset(able.split())
    for one in can:
        if one.startswith(b"symref=HEAD:"):
            default = one[12:].decode(errors="replace")
    filters = b"filter" in can
    own = default or ("refs/heads/main" if "refs/heads/main" in names else "")
    return RemoteRefs(names, own, 1, filters, filters and can >= _ANY_OBJECT)


def _advertised(content: bytes) -> Iterator[bytes]:
    return (line for line in packets(content) if line is not None and not line.startswith(b"# service="))


FLUSH: Final = b"0000"
_DELIMITER: Final = b"0001"
_SIZE: Final = 4
_MAX_SAID: Final = 300


def packet(content: bytes) -> bytes:
    """Return a packet line."""
    return b"%04x" % (len(content) + _SIZE) + content


def lines(contents: Sequence[bytes | None]) -> bytes:
    """Return packet lines with a flush packet at their end; `None` stands for a delimiter between two parts."""
    return b"".join(_DELIMITER if one is None else packet(one) for one in contents) + FLUSH


def packets(content: bytes) -> Iterator[bytes | None]:
    """Yield the packets of an answer, `None` between its parts. What is broken ends it."""
    at = 0
    while at + _SIZE <= len(content):
        try:
            size = int(content[at : at + _SIZE], 16)
        except ValueError:
            return
        if size < _SIZE:
            yield None
            at += _SIZE
            continue
        yield content[at + _SIZE : at + size]
        at += size


class FlushFinder:
    """Finds the flush packet at which a message ends, while the message comes in pieces."""

    def __init__(self) -> None:
        self._at = 0
        self.end = 0
        """Where the message ends; 0 as long as it does not."""

        self.broken = False
        """Whether what came is not made of packet lines."""

    def look(self, received: bytearray) -> None:
        """Look on from where the last look ended; `received` is all that has come so far."""
        while not self.end and not self.broken and self._at + _SIZE <= len(received):
            head = bytes(received[self._at : self._at + _SIZE])
            try:
                size = int(head, 16)
            except ValueError:
                self.broken = True
                return
            self._at += max(size, _SIZE)
            if head == FLUSH:
                self.end = self._at


def said(text: bytes | str) -> str:
    """Return what a server said, on one line, cut, and without control characters: it may be anything."""
    decoded = text[: _MAX_SAID * 8].decode(errors="replace") if isinstance(text, bytes) else text[: _MAX_SAID * 8]
    shown = "".join(one if one.isprintable() else " " for one in decoded)
    return " ".join(shown.split())[:_MAX_SAID]


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
