"""What is asked of git servers and how their answers are read.

Both versions of the protocol (git-scm.com/docs/protocol-v2, git-scm.com/docs/pack-protocol) are the same over HTTP and
over SSH.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pressroom_content.contract import SiteRefused, SiteUnavailable

from pressroom_git.packet_lines import FLUSH, lines, packet, packets, said
from pressroom_git.packs import Objects, read_pack

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
