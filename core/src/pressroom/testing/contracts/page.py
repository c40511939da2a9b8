"""The contracts of dashboard pages and other routes (`pressroom.sdk.Route`)."""

from __future__ import annotations

import asyncio
from html.parser import HTMLParser
from typing import Final, TypeAlias

import httpx

from pressroom.sdk import Route
from pressroom.testing.contracts.generator import media_type, shown
from pressroom.testing.contracts.records import RecordInHost
from pressroom.testing.contracts.suite import ContractSuite, expect

Subject: TypeAlias = RecordInHost[Route]

PAGE: Final = ContractSuite[Subject]("dashboard page")
ROUTE: Final = ContractSuite[Subject]("route")

_VOID: Final = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)
_OPTIONAL_END: Final = frozenset(
    ("li", "dt", "dd", "p", "option", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup", "optgroup", "rt", "rp")
)
_FAILED: Final = 500
_OK: Final = 200
_FOUND: Final = (302, 303)
_FORBIDDEN: Final = 403


@PAGE.promise("a signed-in user gets the page", fix="handle an account that has no data yet; the log has the reason")
async def _signed_in(one: Subject) -> None:
    if _asks_get(one):
        answer = await one.http.get(one.record.path, headers=await _signed_in_headers(one))
        expect(answer.status_code == _OK or answer.is_redirect, shown(answer))


@PAGE.promise(
    "its HTML is well formed: elements are closed in order, and ids are unique",
    fix="close each element, and begin ids with your plugin's id",
)
async def _html(one: Subject) -> None:
    if _asks_get(one):
        answer = await one.http.get(one.record.path, headers=await _signed_in_headers(one))
        if answer.status_code == _OK and media_type(answer) == "text/html":
            reader = _Reader()
            reader.feed(answer.text)
            expect(not reader.problems, "; ".join(reader.problems[:3]))


@PAGE.promise(
    "each form with method POST has the hidden field csrf",
    fix='add <input type="hidden" name="csrf"> with request.csrf_token, escaped',
)
async def _forms(one: Subject) -> None:
    if _asks_get(one):
        answer = await one.http.get(one.record.path, headers=await _signed_in_headers(one))
        reader = _Reader()
        reader.feed(answer.text)
        bare = [action for action, fields in reader.forms if "csrf" not in fields]
        expect(not bare, f"a form for {bare[0] if bare else ''} without it")


@PAGE.promise("a user who is not signed in is redirected to the sign-in page", fix="declare the route with page=…")
async def _signed_out(one: Subject) -> None:
    if _asks_get(one):
        answer = await one.http.get(one.record.path)
        expect(answer.status_code in _FOUND and "/sign-in" in answer.headers.get("location", ""), shown(answer))


@PAGE.promise("a form without its token is refused", fix="declare the route with page=…, and accept forms by POST only")
async def _csrf(one: Subject) -> None:
    if "POST" in _methods(one) and "<" not in one.record.path:
        headers = {**await _signed_in_headers(one), "origin": one.running.url}
        answer = await one.http.post(one.record.path, data={"csrf": "no"}, headers=headers)
        expect(answer.status_code == _FORBIDDEN, shown(answer))


@ROUTE.promise(
    "a request without parameters is answered without an internal error",
    fix="respond with 400 or 404 to missing parameters; the log has the traceback",
)
async def _answered(one: Subject) -> None:
    if "<" in one.record.path:
        return
    for method in sorted(_methods(one) & {"GET", "POST"}):
        answer: httpx.Response = await one.http.request(method, one.record.path)
        expect(answer.status_code < _FAILED, f"{shown(answer)} for {method}")


def _methods(one: Subject) -> set[str]:
    return {method.upper() for method in one.record.methods}


def _asks_get(one: Subject) -> bool:
    return "GET" in _methods(one) and "<" not in one.record.path


async def _signed_in_headers(one: Subject) -> dict[str, str]:
    cookies = await asyncio.to_thread(one.running.account().session_cookies)
    return {"cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}


def read_html(html: str) -> tuple[list[str], list[str]]:
    """Return the problems with part of a page, and the targets of its posted forms."""
    reader = _Reader()
    reader.feed(html)
    return [*reader.problems, *reader.unclosed()], [action for action, _ in reader.forms]


class _Reader(HTMLParser):
    """Collects the problems with a document, and the field names of its posted forms."""

    def __init__(self) -> None:
        super().__init__()
        self.problems: list[str] = []
        self.forms: list[tuple[str, set[str]]] = []
        self._open: list[str] = []
        self._ids: set[str] = set()
        self._fields: set[str] | None = None

    def unclosed(self) -> list[str]:
        """Return a problem for each element that is still open at the end."""
        return [f"<{tag}> is not closed" for tag in self._open if tag not in _OPTIONAL_END]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """See `HTMLParser`."""
        given = dict(attrs)
        if id_ := given.get("id"):
            if id_ in self._ids:
                self.problems.append(f"the id {id_!r} twice")
            self._ids.add(id_)
        if tag == "form" and (given.get("method") or "").lower() == "post":
            self._fields = set()
            self.forms.append((given.get("action") or "its own path", self._fields))
        elif tag in ("input", "button") and self._fields is not None:
            self._fields.add(given.get("name") or "")
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """See `HTMLParser`. SVG elements can be self-closing."""
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        """See `HTMLParser`."""
        if tag == "form":
            self._fields = None
        if tag in _VOID:
            return
        while self._open and self._open[-1] != tag and self._open[-1] in _OPTIONAL_END:
            self._open.pop()
        if self._open and self._open[-1] == tag:
            self._open.pop()
            return
        line, _ = self.getpos()
        inside = f"<{self._open[-1]}>" if self._open else "nothing"
        self.problems.append(f"</{tag}> in line {line} where {inside} is open")
        if tag in self._open:
            while self._open.pop() != tag:
                pass
