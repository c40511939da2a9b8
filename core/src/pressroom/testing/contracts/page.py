"""The contracts of dashboard pages and other routes (`pressroom.sdk.Route`)."""

from __future__ import annotations

import asyncio
from html.parser import HTMLParser
from typing import Final, TypeAlias

import httpx

from pressroom.sdk import Route
from pressroom.testing.contracts.generator import describe, media_type
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
_REDIRECTS: Final = (302, 303)
_FORBIDDEN: Final = 403


@PAGE.promise("a signed-in user gets the page", fix="handle an account that has no data yet; the log has the reason")
async def _signed_in(subject: Subject) -> None:
    if _asks_get(subject):
        response = await subject.http.get(subject.record.path, headers=await _signed_in_headers(subject))
        expect(response.status_code == _OK or response.is_redirect, describe(response))


@PAGE.promise(
    "its HTML is well formed: elements are closed in order, and ids are unique",
    fix="close each element, and begin ids with your plugin's id",
)
async def _html(subject: Subject) -> None:
    if _asks_get(subject):
        response = await subject.http.get(subject.record.path, headers=await _signed_in_headers(subject))
        if response.status_code == _OK and media_type(response) == "text/html":
            reader = _Reader()
            reader.feed(response.text)
            expect(not reader.problems, "; ".join(reader.problems[:3]))


@PAGE.promise(
    "each form with method POST has the hidden field csrf",
    fix='add <input type="hidden" name="csrf"> with request.csrf_token, escaped',
)
async def _forms(subject: Subject) -> None:
    if _asks_get(subject):
        response = await subject.http.get(subject.record.path, headers=await _signed_in_headers(subject))
        reader = _Reader()
        reader.feed(response.text)
        unprotected = [action for action, fields in reader.forms if "csrf" not in fields]
        expect(not unprotected, f"a form for {unprotected[0] if unprotected else ''} without it")


@PAGE.promise("a user who is not signed in is redirected to the sign-in page", fix="declare the route with page=…")
async def _signed_out(subject: Subject) -> None:
    if _asks_get(subject):
        response = await subject.http.get(subject.record.path)
        expect(
            response.status_code in _REDIRECTS and "/sign-in" in response.headers.get("location", ""),
            describe(response),
        )


@PAGE.promise("a form without its token is refused", fix="declare the route with page=…, and accept forms by POST only")
async def _csrf(subject: Subject) -> None:
    if "POST" in _methods(subject) and "<" not in subject.record.path:
        headers = {**await _signed_in_headers(subject), "origin": subject.running.url}
        response = await subject.http.post(subject.record.path, data={"csrf": "no"}, headers=headers)
        expect(response.status_code == _FORBIDDEN, describe(response))


@ROUTE.promise(
    "a request without parameters causes no internal error",
    fix="respond with 400 or 404 to missing parameters; the log has the traceback",
)
async def _handled(subject: Subject) -> None:
    if "<" in subject.record.path:
        return
    for method in sorted(_methods(subject) & {"GET", "POST"}):
        response: httpx.Response = await subject.http.request(method, subject.record.path)
        expect(response.status_code < _FAILED, f"{describe(response)} for {method}")


def _methods(subject: Subject) -> set[str]:
    return {method.upper() for method in subject.record.methods}


def _asks_get(subject: Subject) -> bool:
    return "GET" in _methods(subject) and "<" not in subject.record.path


async def _signed_in_headers(subject: Subject) -> dict[str, str]:
    cookies = await asyncio.to_thread(subject.running.account().session_cookies)
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
        attributes = dict(attrs)
        if id_ := attributes.get("id"):
            if id_ in self._ids:
                self.problems.append(f"the id {id_!r} twice")
            self._ids.add(id_)
        if tag == "form" and (attributes.get("method") or "").lower() == "post":
            self._fields = set()
            self.forms.append((attributes.get("action") or "its own path", self._fields))
        elif tag in ("input", "button") and self._fields is not None:
            self._fields.add(attributes.get("name") or "")
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
        innermost = f"<{self._open[-1]}>" if self._open else "nothing"
        self.problems.append(f"</{tag}> in line {line} where {innermost} is open")
        if tag in self._open:
            while self._open.pop() != tag:
                pass
