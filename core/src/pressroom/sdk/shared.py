"""The records with which plugins take part in what all tools share."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, Self
from urllib.parse import parse_qs

from pressroom.errors import InvalidInput
from pressroom.sdk.backends import Rate
from pressroom.sdk.call import Caller, CallRecord
from pressroom.sdk.dashboard import AccountRole, DashboardPage
from pressroom.sdk.declaration import Access


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """A compiled tool, as shared hooks see it.

    `kind` is `generator` or `mcp`; `toolsets` is never empty. `tags` are those of a generator; an MCP tool has none.
    """

    name: str
    kind: Literal["generator", "mcp"]
    plugin: str
    toolsets: tuple[str, ...]
    tags: tuple[str, ...]
    rate_limit: Rate | None
    cache_discount: float


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a request brought to prove who sent it. `bearer` is empty if absent.

    `headers` are all of the request's, by their names in lower case. The values of one that was sent several times are
    joined with commas, so that a client cannot put its own in front of what a proxy adds.
    """

    bearer: str
    client_ip: str
    headers: Mapping[str, str]

    @property
    def cookies(self) -> Mapping[str, str]:
        """The cookies of the request, by their names; the first where several have one name.

        Browsers send a cookie along unasked. Set yours with `SameSite=Lax` or `Strict`, or pages of others can call
        tools in the name of whoever visits them.
        """
        pairs = (pair.partition("=") for pair in self.headers.get("cookie", "").split(";"))
        named = [(name.strip(), value.strip().strip('"')) for name, equals, value in pairs if equals]
        return dict(reversed(named))


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a credential belongs to.

    A `plan` that the operator did not define, as `[plans.<name>]`, counts as `anonymous`. `connection_name` is what the
    person called the connection, `access` what it may do, and `toolsets` what it lists where a request says nothing
    else; `None` stands for the server's default.
    """

    subject: str
    plan: str
    connection: str = ""
    disabled_tools: frozenset[str] = frozenset()
    connection_name: str = ""
    access: Access = "full"
    toolsets: frozenset[str] | None = None

    def __post_init__(self) -> None:
        # The host remembers callers by their identities, which have to be hashable, whatever set a plugin gives.
        object.__setattr__(self, "disabled_tools", frozenset(self.disabled_tools))
        if self.toolsets is not None:
            object.__setattr__(self, "toolsets", frozenset(self.toolsets))


@dataclass(frozen=True, slots=True)
class Authenticator:
    """Recognises one kind of credential.

    `authenticate` returns the identity, or `None` for a credential of another kind and if absent: it is asked
    for every call, also for those without `Authorization`, unless it is `bearer_only`. It raises
    `Rejected` for one of its own kind that is not valid: no other authenticator is asked then.
    """

    name: str
    authenticate: Callable[[Credentials], Awaitable[Identity | None]]
    bearer_only: bool = False


@dataclass(frozen=True, slots=True)
class Authorizer:
    """Decides whether a caller may use a tool. `authorize` returns `None` to allow, or the reason to refuse."""

    name: str
    authorize: Callable[[Caller, ToolInfo], Awaitable[str | None]]


def by_client_ip(caller: Caller) -> str:
    """Return the key that counts callers by their IP address."""
    return caller.client_ip


def by_subject(caller: Caller) -> str:
    """Return the key that counts callers by account, and by IP address where they have none."""
    return caller.subject or caller.client_ip


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Limits how often a tool is used.

    `rate_for` is asked once for each tool and plan, at start-up; `None` means no limit. `key` is asked
    for each call and says which callers are counted together.
    """

    name: str
    rate_for: Callable[[ToolInfo, str], Rate | None]
    key: Callable[[Caller], str] = by_client_ip


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """How long a result may be served again, in seconds (0: never), and to whom."""

    seconds: int
    share: Literal["everyone", "subject"] = "everyone"


@dataclass(frozen=True, slots=True)
class CacheRule:
    """Says how results are cached. `policy_for` is asked once for each tool and plan; `None` means no opinion."""

    name: str
    policy_for: Callable[[ToolInfo, str], CachePolicy | None]


@dataclass(frozen=True, slots=True)
class Branding:
    """The operator's `[branding]`: names, URLs and colours (`#rrggbb`)."""

    key: str
    name: str
    tagline: str
    url: str
    mcp_url: str
    docs_url: str
    accent: str
    accent_dark: str
    logo_url: str


@dataclass(frozen=True, slots=True)
class Brander:
    """Makes the promotional block of every answer, once, at start-up. The operator names the one that is used."""

    name: str
    block: Callable[[Branding], Mapping[str, Any]]


_FORM: Final = "application/x-www-form-urlencoded"
_MAX_FORM_FIELDS: Final = 1000
_TARGET: Final = re.compile(r"(/(?![/\\])|https?://[^/\\?#])[\x21-\x7e]*", re.ASCII)
"""Two slashes begin the name of another host, and browsers read a backslash as a slash."""

BackendKind = Literal["cache", "limits", "files"]


@dataclass(frozen=True, slots=True)
class Backend:
    """A replaceable part of the host, picked by the operator under its name.

    `factory` is called once in each process, with the host's settings; it returns an object that implements the
    protocol of `kind` in `pressroom.sdk.backends`.
    """

    kind: BackendKind
    name: str
    factory: Callable[[Any], Any]


def _no_token(path: str) -> str:
    """Return the token of a form outside the dashboard, where forms need none."""
    del path
    return ""


@asynccontextmanager
async def _no_charge(tool: str) -> AsyncIterator[Callable[[], None]]:
    """Count nothing, outside the dashboard."""
    del tool
    yield lambda: None


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request to a plugin's own route. Header names are in lower case.

    `host` is the name that the client asked, in lower case and without a port. It is the client's word: only
    `virtual_host` is known to be one of `VirtualHosts`; under any other name it is empty.

    `subject` and `csrf_token` are those of a page of the dashboard: the account that is worked in, and what the page's
    forms have to hold. `person` is the account of whoever is signed in, who may work in that of somebody else,
    `person_name` their name with the e-mail address, and `role` what they may do there. Elsewhere the texts are empty,
    and `role` says nothing.

    `session` is a name of the browser's session, the same until the person signs out; it is empty where nobody is
    signed in. Bind to it what only this browser may continue, such as the `state` of an OAuth flow. It opens nothing.

    The token is good for forms that are posted to the page's own path. `csrf_token_for(path)` returns one for a form
    that is posted to another page. The path is that of its `Route`, filled in and without a query:
    `/dashboard/books/7`. Where the server's public URL has a path of its own, it is left out here, though the form's
    `action` begins with it.

    `charge(tool)` counts what a page of the dashboard does against the monthly quota of the MCP tool that does the
    same: `async with request.charge("create_content") as is_free:`. A use is given back if the block fails, or calls
    `is_free()` because nothing new was made. It raises `QuotaExceeded`, and `Forbidden` where the plan lacks the tool.
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
        """The fields of a posted form, the last value of each; empty for a body that is not a form.

        Forms are `application/x-www-form-urlencoded`, as browsers send them without an `enctype`. Raises `InvalidInput`
        for one that is not UTF-8 or has more than 1,000 fields.
        """
        return {name: values[-1] for name, values in self._fields().items()}

    def form_values(self, name: str) -> tuple[str, ...]:
        """Return all values of one field of a posted form, such as those of check boxes. Raises as `form` does."""
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
    """The answer of a plugin's own route."""

    body: bytes
    status: int = 200
    media_type: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def redirect(cls, url: str, status: Literal[301, 302, 303, 307, 308] = 303) -> Self:
        """Return a redirect to a path of this server, such as `/dashboard/books`, or to a URL of another one.

        303 leads from a form to a page, 308 from an old URL to the new one. Never pass on what a request names, which
        could lead people anywhere. Raises `ValueError` for what is neither a path nor an http or https URL.
        """
        if not _TARGET.fullmatch(url):
            raise ValueError(f"{url!r} is neither a path such as /dashboard/books nor an http or https URL")
        return cls(b"", status, headers={"Location": url})


@dataclass(frozen=True, slots=True)
class Route:
    """A route of a plugin. Conflicts with other routes are refused.

    `path` may hold `<name>` segments, or `<name:pattern>` with a regular expression (without `/:<>`) that the whole
    segment has to match; other paths are not the route's. What is in a segment whose name says that it holds a
    secret, such as `<token>`, is masked in the log.

    With `page` it belongs to the dashboard, for people who are signed in. Bodies have at most `max_body_bytes`; 0 means
    as many as the server takes elsewhere, and on a page of the dashboard 65,536. A page with more is one on which
    people write: a form that arrives after their session ended is shown to them again, to be sent once they are signed
    in.

    `before_body` is awaited before the body is read, with a request whose body is empty. An answer that it returns is
    sent, and the body is not read; `None` lets the request through to the handler. Let it look at tokens and other
    credentials, above all where `max_body_bytes` is large: otherwise anybody can have that much read and kept.

    With `on_virtual_hosts` it is also served under the names of `VirtualHosts`, before what serves the rest there.
    Look at `HttpRequest.virtual_host`, since these names belong to different people. Pages of the dashboard never are.
    """

    path: str
    handler: Callable[[HttpRequest], Awaitable[HttpResponse]]
    methods: tuple[str, ...] = ("GET",)
    page: DashboardPage | None = None
    max_body_bytes: int = 0
    before_body: Callable[[HttpRequest], Awaitable[HttpResponse | None]] | None = None
    on_virtual_hosts: bool = False


class ChangeCount:
    """Counts changes of something that others keep a copy of, so that they notice one without asking."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def note(self) -> None:
        """Count a change: once it can be read, such as after the transaction has ended."""
        self.count += 1


@dataclass(frozen=True, slots=True)
class VirtualHosts:
    """Host names of their own, such as `blog.example.org`, under which a plugin alone answers.

    `hosts` returns the names, in lower case and without a port; international ones in their ASCII form. It is asked
    again every two seconds while requests come, so let it be quick; while it fails, the names from before hold. Return
    only names that are proven to belong to whom you serve there. IP addresses and the server's own names are left out,
    and so are names that the plugin with an earlier id returned. Where `changes` counts the changes that this process
    makes, its next request notices one at once; other processes notice it within the two seconds.

    Every `GET` and `HEAD` request for such a name goes to `handler`, whose `HttpRequest.virtual_host` is the name.
    Nothing else of the server is there: no dashboard, API, MCP or sign-in, only the style sheets and fonts at
    `/tools/static/` and routes with `on_virtual_hosts`.
    """

    name: str
    hosts: Callable[[], Awaitable[Iterable[str]]]
    handler: Callable[[HttpRequest], Awaitable[HttpResponse]]
    changes: ChangeCount | None = None


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One line of `/llms.txt`: a title, a URL (absolute or a path) and a short note.

    `text` is in `/llms-full.txt`; a long one is rather given by `read`, which is asked only there. What `read`
    returned is kept as long as `version` stays the same, and without a version for a minute. Entries with
    `published_at` come before the others of their section, newest first.
    """

    title: str
    url: str
    note: str = ""
    text: str = ""
    published_at: datetime | None = None
    read: Callable[[], Awaitable[str]] | None = None
    version: str = ""


@dataclass(frozen=True, slots=True)
class IndexEntries:
    """Provides entries for a section of the text index, each time it is read."""

    section: str
    entries: Callable[[], Awaitable[Iterable[IndexEntry]]]


@dataclass(frozen=True, slots=True)
class OverviewSection:
    """A section of the dashboard's overview, above what the host shows there itself.

    `html` gets the account's id and returns the section for the frame of the dashboard: an element with a heading `h2`,
    or an empty text where there is nothing to show. It goes into the page as it is, so escape what people have typed,
    and begin ids with the plugin's id. Sections have links rather than forms. Those with a lower `position` come first,
    then those of the plugin whose id comes first. It has two seconds; where it fails, the page leaves it out.

    With `by_role`, `html` also gets what the person may do in the account, an `AccountRole`, as its second argument:
    leave out links to what somebody with that role may not do.
    """

    name: str
    html: Callable[..., Awaitable[str]]
    position: int = 100
    by_role: bool = False


@dataclass(frozen=True, slots=True)
class PublishingTargets:
    """Names what the tools of a plugin publish on for an account, such as its connected websites.

    People read the names before they let an app publish. `names` gets the account's id and returns them, such as
    `blog.example`, in the order in which they are shown. It has about a second; where it fails, the page that asks
    speaks of websites without naming them.
    """

    name: str
    names: Callable[[str], Awaitable[Iterable[str]]]


@dataclass(frozen=True, slots=True)
class Observer:
    """Is told of every finished call. What it raises is counted, never shown.

    `observe` is a plain function that only takes note and returns at once, since the answer waits for it; or a
    coroutine function, which runs beside the answer, for at most 30 seconds.
    """

    name: str
    observe: Callable[[CallRecord], Awaitable[None] | None]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One row of `pressroom doctor`. `hint` says what to do where the status is not `ok`."""

    status: Literal["ok", "warning", "error"]
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """A check that `pressroom doctor` runs."""

    name: str
    run: Callable[[], Awaitable[CheckResult]]


@dataclass(frozen=True, slots=True)
class Lifespan:
    """Something that lives as long as the process: entered in order of plugin id, left in reverse."""

    name: str
    enter: Callable[[], AbstractAsyncContextManager[Any]]
