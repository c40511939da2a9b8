"""Git's protocol: packet lines, requests, and parsers for responses.

Both versions of the protocol (git-scm.com/docs/protocol-v2, git-scm.com/docs/pack-protocol) work the same over HTTP and
SSH, and both consist of packet lines (git-scm.com/docs/protocol-common).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol, TypeAlias

from pressroom_content.contract import SiteRefused, SiteUnavailable, UnknownOutcome, run_in_worker

from pressroom_git.snapshot import Objects, read_pack

MAX_PACK_BYTES: Final = 64_000_000
MAX_REFS_BYTES: Final = 8_000_000
MAX_REPORT_BYTES: Final = 65_536

_ZERO: Final = "0" * 40
_PACK_BAND, _ERROR_BAND = 1, 3
_ANY_OBJECT: Final = frozenset({b"allow-tip-sha1-in-want", b"allow-reachable-sha1-in-want"})
"""Version 1 capabilities of servers that send any object; `uploadpack.allowAnySHA1InWant` enables both."""


@dataclass(frozen=True, slots=True)
class RemoteRefs:
    """The branches of a repository and the capabilities of its server.

    `names` maps full branch names to commits; `default` is the full name of the default branch. `filters` is whether
    the server can omit files, `by_name` whether it sends a file by its object name.
    """

    names: Mapping[str, str]
    default: str
    version: int
    filters: bool
    by_name: bool


def ls_refs_request(branch: str) -> bytes:
    """Return the version 2 request for a branch, or for all branches if the name is empty."""
    prefix = f"refs/heads/{branch}" if branch else "refs/heads/"
    return lines([b"command=ls-refs\n", None, b"symrefs\n", b"ref-prefix HEAD\n", f"ref-prefix {prefix}\n".encode()])


def fetch_request(refs: RemoteRefs, shas: Sequence[str], *, commit: bool, files: bool) -> bytes:
    """Return the request for objects by name.

    A commit includes its trees, and its files if `files` is true or the server cannot omit them.
    """
    filtered = commit and refs.filters and not files
    wants = [f"want {sha}".encode() for sha in shas]
    if refs.version == 2:
        body: list[bytes | None] = [b"command=fetch\n", None, b"no-progress\n", b"ofs-delta\n"]
        if commit:
            body += [b"deepen 1\n", *([b"filter blob:none\n"] if filtered else [])]
        return lines([*body, *(want + b"\n" for want in wants), b"done\n"])
    capabilities = b" ofs-delta side-band-64k no-progress shallow" + (b" filter" if filtered else b"") + b"\n"
    content = b"".join(packet(want + (b"\n" if at else capabilities)) for at, want in enumerate(wants))
    if commit:
        content += packet(b"deepen 1\n") + (packet(b"filter blob:none\n") if filtered else b"")
    return content + FLUSH + packet(b"done\n")


def push_request(ref: str, old: str, new: str, pack: bytes) -> bytes:
    """Return the request to move a branch to a new commit, with a pack of its objects."""
    return packet(f"{old or _ZERO} {new} {ref}\0 report-status agent=pressroom\n".encode()) + FLUSH + pack


def push_result(ref: str, report: bytes) -> str | None:
    """Return why a server rejected a push; empty if it accepted it, `None` if the report does not state it."""
    status = [line.decode(errors="replace").strip() for line in packets(report) if line]
    status_line = next((line for line in status if line.startswith(("ok ", "ng "))), "")
    if status_line == f"ok {ref}":
        return ""
    unpacked = next((line for line in status if line.startswith("unpack ")), "")
    if not status_line and not unpacked:
        return None
    return server_message(status_line.removeprefix(f"ng {ref}").strip() or unpacked)


def objects_of(response: bytes, title: str) -> Objects:
    """Parse the objects of a response with a pack. The data is untrusted: call this in a worker process.

    Raises:
        SiteUnavailable: the server failed, or the response cannot be parsed.
        SiteRefused: the server refused the request.
    """
    pack = bytearray()
    for line in packets(response):
        if line is None or not line:
            continue
        if line.startswith(b"ERR "):
            raise SiteRefused(f"{title} refused this: {server_message(line[4:])}")
        if line[0] == _PACK_BAND:
            pack += line[1:]
        elif line[0] == _ERROR_BAND:
            raise SiteUnavailable(f"{title} failed: {server_message(line[1:])}")
    return read_pack(pack)


def filters_of(advertisement: bytes) -> bool | None:
    """Return whether a version 2 server can omit files; `None` if it speaks version 1."""
    advertised = _advertised(advertisement)
    if next(advertised, b"").strip() != b"version 2":
        return None
    return any(line.startswith(b"fetch=") and b"filter" in line.split(b"=", 1)[1].split() for line in advertised)


def listed(response: bytes) -> tuple[Mapping[str, str], str]:
    """Parse a version 2 list of branches: commits by full branch name, and the name of the default branch."""
    names, default = {}, ""
    for line in packets(response):
        name, _, rest = (line or b"").decode(errors="replace").strip().partition(" ")
        ref, *attributes = rest.split(" ")
        if ref == "HEAD":
            default = next(
                (attribute[14:] for attribute in attributes if attribute.startswith("symref-target:")), default
            )
        elif ref.startswith("refs/heads/"):
            names[ref] = name
    return names, default


def first_version(advertisement: bytes) -> RemoteRefs:
    """Parse the advertisement of a version 1 server."""
    names, default, capability_list = {}, "", b""
    for number, line in enumerate(_advertised(advertisement)):
        ref_line, _, more = line.partition(b"\0")
        capability_list = more if number == 0 else capability_list
        name, _, ref = ref_line.decode(errors="replace").strip().partition(" ")
        if ref.startswith("refs/heads/"):
            names[ref] = name
    capabilities = frozenset(capability_list.split())
    for capability in capabilities:
        if capability.startswith(b"symref=HEAD:"):
            default = capability[12:].decode(errors="replace")
    filters = b"filter" in capabilities
    default_ref = default or ("refs/heads/main" if "refs/heads/main" in names else "")
    return RemoteRefs(names, default_ref, 1, filters, filters and capabilities >= _ANY_OBJECT)


def _advertised(content: bytes) -> Iterator[bytes]:
    return (line for line in packets(content) if line is not None and not line.startswith(b"# service="))


FLUSH: Final = b"0000"
_DELIMITER: Final = b"0001"
_SIZE: Final = 4
_MAX_MESSAGE: Final = 300


def packet(content: bytes) -> bytes:
    """Return a packet line."""
    return b"%04x" % (len(content) + _SIZE) + content


def lines(contents: Sequence[bytes | None]) -> bytes:
    """Return packet lines, ending with a flush packet; `None` stands for a delimiter packet."""
    return b"".join(_DELIMITER if content is None else packet(content) for content in contents) + FLUSH


def packets(content: bytes) -> Iterator[bytes | None]:
    """Yield the packets of a response, `None` for flush and delimiter packets. Stops at an invalid length."""
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
    """Finds the flush packet that ends a message while the message is being received."""

    def __init__(self) -> None:
        self._at = 0
        self.end = 0
        """End position of the message; 0 until it is found."""

        self.broken = False
        """Whether the data does not consist of packet lines."""

    def look(self, received: bytearray) -> None:
        """Continue the search in `received`, which is all data received so far."""
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


def server_message(text: bytes | str) -> str:
    """Return a server's message on one line, without control characters and cut to 300 characters: it is untrusted."""
    decoded = text[: _MAX_MESSAGE * 8].decode(errors="replace") if isinstance(text, bytes) else text[: _MAX_MESSAGE * 8]
    printable = "".join(character if character.isprintable() else " " for character in decoded)
    return " ".join(printable.split())[:_MAX_MESSAGE]


RunInWorker: TypeAlias = Callable[..., Awaitable[Any]]
IN_PROCESS: Final[RunInWorker] = partial(run_in_worker, None)
"""Runs a function in-process; for repositories without worker processes, as in tests."""

RequestFactory: TypeAlias = Callable[[bytes], Awaitable[bytes]]
"""Creates the request that follows a server's advertisement; empty for none."""

_QUICK_BYTES: Final = 65_536
"""Maximum size in bytes of a response to parse on the event loop; larger ones are parsed in a worker process."""


@dataclass(frozen=True, slots=True)
class PushReport:
    """The response to a push: the protocol's report, and messages of the server outside of it."""

    content: bytes
    messages: str = ""


class GitTransport(Protocol):
    """Sends requests to the server of one repository, with limits for the responses.

    All methods raise `SiteUnavailable`, `SiteRejected` and `SiteRefused`.
    """

    title: str
    """Name of the server in messages."""

    run_in_worker: RunInWorker
    """Runs a function in a worker process; see `BasicSite.run_in_worker`."""

    async def list_refs(self, ask: RequestFactory) -> tuple[bytes, bytes]:
        """Return the advertisement of branches, and the response to the request that `ask` creates from it."""

    async def fetch(self, request: bytes) -> bytes:
        """Return the response to a request for objects."""

    async def push(self, request: bytes) -> PushReport:
        """Return the response to a push. Raises `UnknownOutcome` if it was sent without a complete response."""

    async def check_push(self) -> None:
        """Check that the credential may push, without pushing anything."""


class GitClient:
    """A client for a repository on a git server.

    All methods raise `SiteUnavailable`, `SiteRejected` and `SiteRefused`; `push` also raises `UnknownOutcome`.
    """

    def __init__(self, transport: GitTransport) -> None:
        self._transport = transport
        self.title = transport.title

    async def refs(self, branch: str = "") -> RemoteRefs:
        """Return the server's capabilities and the named branch, or all branches without a name."""
        filters: bool | None = None

        async def ask(advertisement: bytes) -> bytes:
            nonlocal filters
            filters = await self._read(filters_of, advertisement)
            return b"" if filters is None else ls_refs_request(branch)

        advertisement, response = await self._transport.list_refs(ask)
        if filters is None:
            refs: RemoteRefs = await self._read(first_version, advertisement)
            return refs
        names, default = await self._read(listed, response)
        return RemoteRefs(names, default, 2, filters, filters)

    async def pack(self, refs: RemoteRefs, shas: Sequence[str], *, commit: bool, files: bool = False) -> bytes:
        """Fetch objects by name; see `fetch_request`. Parse the response with `objects_of`."""
        return await self._transport.fetch(fetch_request(refs, shas, commit=commit, files=files))

    async def push(self, ref: str, old: str, new: str, pack: bytes) -> str:
        """Move a branch to a new commit. Returns why the server rejected that; empty if it succeeded."""
        report = await self._transport.push(push_request(ref, old, new, pack))
        reason = push_result(ref, report.content)
        if reason is None:
            suffix = f": {report.messages}" if report.messages else ""
            raise UnknownOutcome(f"{self.title} did not confirm whether it accepted the commit{suffix}")
        return f"{reason} ({report.messages})" if reason and report.messages else reason

    async def check_push(self) -> None:
        """Check that the credential may push."""
        await self._transport.check_push()

    async def _read(self, function: Callable[..., Any], content: bytes) -> Any:
        if len(content) <= _QUICK_BYTES:
            return function(content)
        return await self._transport.run_in_worker(function, content, what="the list of branches")
