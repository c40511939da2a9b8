"""What a request asks to see: `toolsets` and `readonly`, in the URL or in headers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeVar
from urllib.parse import parse_qsl

from sanic import Request

from pressroom.interfaces.mcp.jsonrpc import INVALID_PARAMS, RpcError
from pressroom.validation.echo import nearest, quoted

TOOLSETS_HEADER: Final = "x-mcp-toolsets"
READ_ONLY_HEADER: Final = "x-mcp-readonly"

MAX_LENGTH: Final = 2048
"""The most characters of a query or a header that are read."""

Value = TypeVar("Value")

_TOOLSETS: Final = "toolsets"
_READ_ONLY: Final = "readonly"
_BOOLEANS: Final = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, slots=True)
class Selection:
    """What a request asks for. `toolsets` is `None` where it names none."""

    toolsets: frozenset[str] | None = None
    read_only: bool = False


NOTHING_ASKED: Final = Selection()


def read_selection(request: Request) -> Selection:
    """Return what the URL and the headers of a request ask for. Whether the sets exist is not checked.

    Raises:
        RpcError: a value cannot be read, or the URL and a header disagree.
    """
    query, headers = request.query_string, request.headers
    if not query and TOOLSETS_HEADER not in headers and READ_ONLY_HEADER not in headers:
        return NOTHING_ASKED
    in_headers = {
        name: headers.getall(header)
        for name, header in ((_TOOLSETS, TOOLSETS_HEADER), (_READ_ONLY, READ_ONLY_HEADER))
        if header in headers
    }
    if len(query) > MAX_LENGTH or any(len(value) > MAX_LENGTH for values in in_headers.values() for value in values):
        raise RpcError(INVALID_PARAMS, f"toolsets and readonly must have {MAX_LENGTH:,} characters at most")
    in_url: dict[str, list[str]] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        in_url.setdefault(name.lower(), []).append(value)
    places = (in_url, in_headers)
    sets = _agreed(_TOOLSETS, *(_sets(place[_TOOLSETS]) if _TOOLSETS in place else None for place in places))
    read_only = _agreed(_READ_ONLY, *(_flag(place[_READ_ONLY]) if _READ_ONLY in place else None for place in places))
    return Selection(sets, bool(read_only))


def _sets(values: Iterable[str]) -> frozenset[str]:
    names = frozenset(name for value in values for one in value.split(",") if (name := one.strip().lower()))
    if not names:
        raise RpcError(
            INVALID_PARAMS, "toolsets is empty; name sets, such as toolsets=core,seo, or all, or leave it out"
        )
    return names


def _flag(values: Iterable[str]) -> bool:
    found = {_BOOLEANS.get(value.strip().lower()) for value in values}
    if len(found) != 1 or None in found:
        raise RpcError(INVALID_PARAMS, f"readonly must be true or false (got {quoted(', '.join(values))})")
    return found == {True}


def _agreed(name: str, in_url: Value | None, in_header: Value | None) -> Value | None:
    if in_url is not None and in_header is not None and in_url != in_header:
        raise RpcError(
            INVALID_PARAMS,
            f"{name} in the URL ({_shown(in_url)}) and in the header X-MCP-{name.capitalize()} ({_shown(in_header)}) "
            "disagree; send one of them",
        )
    return in_header if in_url is None else in_url


def _shown(value: object) -> str:
    if isinstance(value, frozenset):
        return quoted(",".join(sorted(value)))
    return str(value).lower()


def unknown_sets(asked: Iterable[str], known: Iterable[str]) -> RpcError:
    """Return the error of a request for sets that no tool of this server belongs to."""
    return RpcError(INVALID_PARAMS, f"{'; '.join(_unknown(sorted(asked), sorted(known)))}")


def _unknown(asked: list[str], known: list[str]) -> Iterator[str]:
    for name in asked:
        similar = nearest(name, known)
        yield f"there is no toolset {quoted(name, 64)}" + (f", did you mean {similar}?" if similar else "")
    yield f"this server has {', '.join([*known, 'all'])}"
