"""Requests and responses of plugins' own routes, pages and host names."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, Literal, Self
from urllib.parse import parse_qs

from pressroom.errors import InvalidInput
from pressroom.sdk.dashboard import AccountRole, DashboardPage

_FORM: Final = "application/x-www-form-urlencoded"
_MAX_FORM_FIELDS: Final = 1000
_TARGET: Final = re.compile(r"(/(?![/\\])|https?://[^/\\?#])[\x21-\x7e]*", re.ASCII)
"""A path, or an http or https URL.

A path must not begin with two slashes, which would start a host name; browsers read a backslash as a slash.
"""


def _no_token(path: str) -> str:
    """Return an empty token, since forms outside the dashboard need none."""
    del path
    return ""


@asynccontextmanager
async def _no_charge(tool: str) -> AsyncIterator[Callable[[], None]]:
    """Count nothing, since only dashboard pages are charged."""
    del tool
    yield lambda: None


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request to a plugin's own route. Header names are in lower case.

    `host` is the host name that the client requested, in lower case and without a port. Clients can send any name: only
    `virtual_host` is guaranteed to be one of `VirtualHosts`; for any other name, it is empty.

    On a page of the dashboard, `subject` is the account that the page belongs to, and `csrf_token` is the token for the
    page's forms. `person` is the account of the signed-in user, who may be working in another account, `person_name` is
    their name with the e-mail address, and `role` is their role in the account. On other routes, these texts are empty,
    and `role` is meaningless.

    `session` identifies the browser's session until the user signs out; it is empty if nobody is signed in. Use it to
    bind a flow to this browser, such as the `state` of an OAuth flow. It does not give access to anything.

    The token is valid for forms that are posted to the page's own path. `csrf_token_for(path)` returns one for a form
    that is posted to another page. The path is that of its `Route`, with segments filled in and without a query:
    `/dashboard/books/7`. If the server's public URL has a path, leave it out here, although the form's `action` begins
    with it.

    `charge(tool)` counts an action on a dashboard page against the monthly quota of the equivalent MCP tool:
    `async with request.charge("create_content") as is_free:`. The use does not count if the block fails, or calls
    `is_free()` because nothing new was created. It raises `QuotaExceeded`, and `Forbidden` if the plan does not include
    the tool.
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    client_ip: str
    request_id: str
    path_params: Mapping[str, str] = field(default_factory=dict)
    host: str = ""
    virtual_host: str = ""
    subject: str = ""
    csrf_token: str = field(default="", repr=False)
    csrf_token_for: Callable[[str], str] = field(default=_no_token, repr=False, compare=False)
    charge: Callable[[str], AbstractAsyncContextManager[Callable[[], None]]] = field(
        default=_no_charge, repr=False, compare=False
    )
    session: str = field(default="", repr=False)
    person: str = ""
    person_name: str = ""
    role: AccountRole = "owner"

    @property
    def form(self) -> Mapping[str, str]:
        """The fields of a posted form, with the last value of each; empty if the body is not a form.

        Forms are `application/x-www-form-urlencoded`, as browsers send them without an `enctype`. Raises `InvalidInput`
        if the form is not UTF-8 or has more than 1,000 fields.
        """
        return {name: values[-1] for name, values in self._fields().items()}

    def form_values(self, name: str) -> tuple[str, ...]:
        """Return all values of one field of a posted form, such as check boxes. Raises the same errors as `form`."""
        return tuple(self._fields().get(name, ()))

    def _fields(self) -> dict[str, list[str]]:
        if self.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
            return {}
        try:
            return parse_qs(
                self.body.decode(), keep_blank_values=True, max_num_fields=_MAX_FORM_FIELDS, errors="strict"
            )
        except ValueError:
            raise InvalidInput("", f"the form is not UTF-8, or has more than {_MAX_FORM_FIELDS} fields") from None


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """The response of a plugin's own route."""

    body: bytes
    status: int = 200
    media_type: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def redirect(cls, url: str, status: Literal[301, 302, 303, 307, 308] = 303) -> Self:
        """Return a redirect to a path of this server, such as `/dashboard/books`, or to a URL of another server.

        Use 303 from a form to a page, and 308 from an old URL to the new one. Never redirect to a URL from a request,
        which could lead users anywhere. Raises `ValueError` for anything but a path or an http or https URL.
        """
        if not _TARGET.fullmatch(url):
            raise ValueError(f"{url!r} is neither a path such as /dashboard/books nor an http or https URL")
        return cls(b"", status, headers={"Location": url})


@dataclass(frozen=True, slots=True)
class Route:
    """A route of a plugin. Conflicting routes are refused.

    `handler` is a coroutine function that takes the request. `methods` are the HTTP methods that it supports. `path`
    may contain segments such as `<name>`, or `<name:pattern>` with a regular expression (without `/:<>`) that the whole
    segment must match. The values of segments whose names suggest a secret, such as `<token>`, are masked in the log.

    With `page`, the route belongs to the dashboard, for users who are signed in.

    `max_body_bytes` is the size limit of request bodies; 0 means the limit of the server, or 65,536 on a page of the
    dashboard. Set a higher limit for pages on which users write: if a form arrives after the session has ended, it is
    shown to the user again, to be sent after signing in.

    `before_body` is awaited before the body is read, with a request whose body is empty. If it returns a response, the
    response is sent and the body is not read; with `None`, the request continues to the handler. Use it to check tokens
    and other credentials, especially if `max_body_bytes` is large: otherwise, anybody can make the server buffer bodies
    of that size.

    With `on_virtual_hosts`, the route is also served under the names of `VirtualHosts`, with priority over their
    handler. Check `HttpRequest.virtual_host`, since these names belong to different users. Pages of the dashboard are
    never served there.

    With `title`, the route is a public page in the layout of the server: a `text/html` response is shown inside it, so
    return a part of a page that begins with its `h1`. The browser tab shows the title. Such pages are never cached or
    indexed. Anybody can open them, and their forms have no CSRF token: base them on the URL or the form, never on the
    signed-in user. A route with a `page` ignores `title`.
    """

    path: str
    handler: Callable[[HttpRequest], Awaitable[HttpResponse]]
    methods: tuple[str, ...] = ("GET",)
    page: DashboardPage | None = None
    max_body_bytes: int = 0
    before_body: Callable[[HttpRequest], Awaitable[HttpResponse | None]] | None = None
    on_virtual_hosts: bool = False
    title: str = ""


class ChangeCount:
    """A change counter, with which code that caches data detects that its copy is outdated."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def note(self) -> None:
        """Count a change. Call this once readers can see the change, for example after the transaction has ended."""
        self.count += 1


@dataclass(frozen=True, slots=True)
class VirtualHosts:
    """Separate host names, such as `blog.example.org`, that only one plugin serves.

    `hosts` returns the names in lower case and without a port; international names in their ASCII form. It is called
    again every two seconds while requests arrive, so it must be fast; while it fails, the previous names stay valid.
    Return only names that are proven to belong to the users that you serve there. IP addresses, the server's own names,
    and names that a plugin with an earlier id returned are ignored. If `changes` counts the changes that this process
    makes, its next request notices them at once; other processes notice them within two seconds.

    Every `GET` and `HEAD` request for such a name is passed to `handler`, with the name in `HttpRequest.virtual_host`.
    Nothing else of the server is available there: no dashboard, API, MCP or sign-in, only the style sheets and fonts at
    `/tools/static/`, and routes with `on_virtual_hosts`.
    """

    name: str
    hosts: Callable[[], Awaitable[Iterable[str]]]
    handler: Callable[[HttpRequest], Awaitable[HttpResponse]]
    changes: ChangeCount | None = None
