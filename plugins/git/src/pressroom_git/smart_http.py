"""Git's own protocol over HTTP (git-scm.com/docs/protocol-v2, gitprotocol-http), through the guarded fetcher."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from pressroom.sdk import Fetched, Fetcher, FetchFailed, FetchRefused, FetchUnknown
from pressroom_content.contract import (
    SiteErrors,
    SiteRefused,
    SiteRejected,
    SiteUnavailable,
    UnknownOutcome,
    retry_after_of,
    work_beside,
)

from pressroom_git.packs import Objects, read_pack

Beside: TypeAlias = Callable[..., Awaitable[Any]]

MAX_PACK_BYTES: Final = 64_000_000
_MAX_REFS_BYTES: Final = 8_000_000
_MAX_REPORT_BYTES: Final = 65_536
_QUICK_BYTES: Final = 65_536
"""Bytes of an answer that are read on the event loop; more are read in a worker process."""

_SECONDS: Final = 60.0
_ZERO: Final = "0" * 40
_SIDE_BANDS: Final = 3
_REPORTED: Final = 300
_OK, _REFUSED, _FAILED = 200, 400, 500


@dataclass(frozen=True, slots=True)
class RemoteRefs:
    """The branches of a repository by their full names, and which one it calls its own; what its server can do."""

    names: Mapping[str, str]
    default: str
    version: int
    filters: bool
    base: str = field(default="")


class SmartHttp:
    """A repository on a server that speaks git over HTTP.

    All raise `SiteUnavailable`, `SiteRejected` and `SiteRefused`; `push` raises `UnknownOutcome` besides.
    """

    def __init__(self, fetcher: Fetcher, url: str, user: str, token: str) -> None:
        self._fetcher = fetcher
        self._url = url.rstrip("/")
        self.title = f"git at {urlsplit(url).netloc}"
        self.beside: Beside = partial(work_beside, None)
        """What runs a function in a worker process; see `BasicSite.beside`."""

        self._headers = {"Git-Protocol": "version=2"}
        if token:
            pair = base64.b64encode(f"{user or 'oauth2'}:{token}".encode()).decode()
            self._headers["Authorization"] = f"Basic {pair}"

    async def refs(self, branch: str = "") -> RemoteRefs:
        """Return the branch of that name, or the repository's own."""
        answer = await self._sent("GET", f"{self._url}/info/refs?service=git-upload-pack", redirects=3)
        base = answer.url.partition("/info/refs")[0]
        if urlsplit(base)[:2] != urlsplit(self._url)[:2]:
            raise SiteRefused(
                f"{self.title} redirects to {urlsplit(base).netloc}; connect it with the URL where it is now"
            )
        if answer.media_type != "application/x-git-upload-pack-advertisement":
            raise SiteRefused(f"{self.title} has no repository at this URL, or does not speak git's protocol")
        filters = await self._read(_filters_of, answer.content)
        if filters is None:
            refs: RemoteRefs = await self._read(_first_version, answer.content, base)
            return refs
        prefix = f"refs/heads/{branch}" if branch else "refs/heads/"
        sent = [b"command=ls-refs\n", None, b"symrefs\n", b"ref-prefix HEAD\n", f"ref-prefix {prefix}\n".encode()]
        listed = await self._sent("POST", f"{base}/git-upload-pack", _lines(sent), kind="upload", most=_MAX_REFS_BYTES)
        names, default = await self._read(_listed, listed.content)
        return RemoteRefs(names, default, 2, filters, base)

    async def _read(self, function: Callable[..., Any], content: bytes, *more: str) -> Any:
        if len(content) <= _QUICK_BYTES:
            return function(content, *more)
        return await self.beside(function, content, *more, what="the list of branches")

    async def pack(self, refs: RemoteRefs, wanted: Sequence[str], *, commit: bool) -> bytes:
        """Return what the server sends of objects by their names, for `objects_of`.

        A commit comes with its trees, and with all files where the server has no filters.
        """
        if refs.version == 2:
            body: list[bytes | None] = [b"command=fetch\n", None, b"no-progress\n", b"ofs-delta\n"]
            if commit:
                body += [b"deepen 1\n", *([b"filter blob:none\n"] if refs.filters else [])]
            body += [*(f"want {one}\n".encode() for one in wanted), b"done\n"]
            content = _lines(body)
        else:
            able = b" ofs-delta side-band-64k no-progress shallow\n"
            content = b"".join(
                _packet(f"want {one}".encode() + (b"\n" if at else able)) for at, one in enumerate(wanted)
            )
            content += _packet(b"deepen 1\n") + b"0000" + _packet(b"done\n")
        answer = await self._sent("POST", f"{refs.base}/git-upload-pack", content, kind="upload", most=MAX_PACK_BYTES)
        return answer.content

    async def push(self, base: str, ref: str, old: str, new: str, pack: bytes) -> str:
        """Move a branch to a new commit, and return why the server did not; empty where it did."""
        command = f"{old or _ZERO} {new} {ref}\0 report-status agent=pressroom\n".encode()
        content = _packet(command) + b"0000" + pack
        answer = await self._sent(
            "POST", f"{base}/git-receive-pack", content, kind="receive", most=_MAX_REPORT_BYTES, changes=True
        )
        status = [line.decode(errors="replace").strip() for line in _packets(answer.content) if line]
        told = next((line for line in status if line.startswith(("ok ", "ng "))), "")
        if told == f"ok {ref}":
            return ""
        unpacked = next((line for line in status if line.startswith("unpack ")), "")
        if not told and not unpacked:
            raise UnknownOutcome(f"{self.title} did not say whether it took the commit")
        why = told.removeprefix(f"ng {ref}").strip() or unpacked
        return why[:_REPORTED]

    async def _sent(
        self,
        method: str,
        url: str,
        content: bytes = b"",
        *,
        kind: str = "",
        most: int = _MAX_REFS_BYTES,
        redirects: int = 0,
        changes: bool = False,
    ) -> Fetched:
        headers = dict(self._headers)
        if kind:
            headers["Content-Type"] = f"application/x-git-{kind}-pack-request"
        try:
            answer = await self._fetcher.request(
                method, url, headers=headers, content=content, max_bytes=most, seconds=_SECONDS, redirects=redirects
            )
        except FetchUnknown as error:
            if changes:
                raise SiteErrors().no_answer(self.title, error) from None
            raise SiteUnavailable(f"{self.title} cannot be reached: {error.message}") from None
        except (FetchFailed, FetchRefused) as error:
            raise SiteErrors().no_answer(self.title, error) from None
        self._check(answer, changes=changes)
        return answer

    def _check(self, answer: Fetched, *, changes: bool) -> None:
        told = f"HTTP {answer.status}"
        match answer.status:
            case 200:
                return
            case 401 | 403:
                raise SiteRejected(f"{self.title} does not accept the token for this repository ({told})")
            case 404 | 410:
                raise SiteRejected(f"{self.title} does not show a repository here to this token ({told})")
            case 429 | 503:
                raise SiteUnavailable(
                    f"{self.title} takes no requests at the moment ({told})",
                    retry_after=retry_after_of(answer.headers),
                )
        if answer.status >= _FAILED:
            message = f"{self.title} failed ({told})"
            raise UnknownOutcome(message) if changes else SiteUnavailable(message)
        raise SiteRefused(f"{self.title} refused this ({told})")


def objects_of(answer: bytes, title: str) -> Objects:
    """Return the objects in an answer with a pack. It is anybody's: call it in a worker process.

    Raises:
        SiteUnavailable: the server failed, or what it sent cannot be read.
        SiteRefused: the server refused the request.
    """
    made = bytearray()
    for line in _packets(answer):
        if line is None or not line:
            continue
        if line.startswith(b"ERR "):
            raise SiteRefused(f"{title} refused this: {line[4:].decode(errors='replace').strip()[:_REPORTED]}")
        if line[0] == 1:
            made += line[1:]
        elif line[0] == _SIDE_BANDS:
            raise SiteUnavailable(f"{title} failed: {line[1:].decode(errors='replace').strip()[:_REPORTED]}")
    return read_pack(made)


def _filters_of(content: bytes) -> bool | None:
    """Tell whether a server can leave files out; `None` where it speaks the first version of the protocol."""
    lines = _advertised(content)
    if next(lines, b"").strip() != b"version 2":
        return None
    return any(line.startswith(b"fetch=") and b"filter" in line.split(b"=", 1)[1].split() for line in lines)


def _listed(content: bytes) -> tuple[Mapping[str, str], str]:
    """Return the branches by their full names, and which one the repository calls its own."""
    names, default = {}, ""
    for line in _packets(content):
        name, _, rest = (line or b"").decode(errors="replace").strip().partition(" ")
        ref, *attributes = rest.split(" ")
        if ref == "HEAD":
            default = next((one[14:] for one in attributes if one.startswith("symref-target:")), default)
        elif ref.startswith("refs/heads/"):
            names[ref] = name
    return names, default


def _advertised(content: bytes) -> Iterator[bytes]:
    return (line for line in _packets(content) if line is not None and not line.startswith(b"# service="))


def _first_version(content: bytes, base: str) -> RemoteRefs:
    """Return the branches as servers list them that speak the first version of the protocol."""
    names, default, able = {}, "", b""
    for number, line in enumerate(_advertised(content)):
        listed, _, more = line.partition(b"\0")
        able = more if number == 0 else able
        name, _, ref = listed.decode(errors="replace").strip().partition(" ")
        if ref.startswith("refs/heads/"):
            names[ref] = name
    for one in able.split():
        if one.startswith(b"symref=HEAD:"):
            default = one[12:].decode(errors="replace")
    return RemoteRefs(names, default or ("refs/heads/main" if "refs/heads/main" in names else ""), 1, False, base)


def _packet(content: bytes) -> bytes:
    return b"%04x" % (len(content) + 4) + content


def _lines(lines: Sequence[bytes | None]) -> bytes:
    return b"".join(b"0001" if line is None else _packet(line) for line in lines) + b"0000"


def _packets(content: bytes) -> Iterator[bytes | None]:
    """Yield the packets of an answer, `None` between its parts. What is broken ends it."""
    at = 0
    while at + 4 <= len(content):
        try:
            size = int(content[at : at + 4], 16)
        except ValueError:
            return
        if size < 4:
            yield None
            at += 4
            continue
        yield content[at + 4 : at + size]
        at += size
