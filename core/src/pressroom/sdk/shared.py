"""Records for features that all tools share, such as authentication, limits, caching and checks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from pressroom.sdk.backends import Rate
from pressroom.sdk.call import Caller, CallRecord
from pressroom.sdk.declaration import Access


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """A tool, as shared hooks see it.

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
    """The credentials of a request. `bearer` is empty if absent.

    `headers` are all headers of the request, by name in lower case. If a header was sent several times, its values are
    joined with commas, so that a client cannot put its own value in front of the one that a proxy adds.
    """

    bearer: str
    client_ip: str
    headers: Mapping[str, str]

    @property
    def cookies(self) -> Mapping[str, str]:
        """The cookies of the request by name. If several have the same name, the first one counts.

        Browsers send cookies automatically. Set yours with `SameSite=Lax` or `Strict`; otherwise, pages of other sites
        can call tools on behalf of their visitors.
        """
        pairs = (pair.partition("=") for pair in self.headers.get("cookie", "").split(";"))
        cookies = [(name.strip(), value.strip().strip('"')) for name, equals, value in pairs if equals]
        return dict(reversed(cookies))


@dataclass(frozen=True, slots=True)
class Identity:
    """The owner of a credential.

    A `plan` that the operator has not defined as `[plans.<name>]` counts as `anonymous`. `connection_name` is the name
    that the user gave the connection, `access` is its access level, and `toolsets` are those that it lists unless a
    request asks for others; `None` means the server's default.
    """

    subject: str
    plan: str
    connection: str = ""
    disabled_tools: frozenset[str] = frozenset()
    connection_name: str = ""
    access: Access = "full"
    toolsets: frozenset[str] | None = None

    def __post_init__(self) -> None:
        # The host needs identities to be hashable, even if a plugin passes a mutable set.
        object.__setattr__(self, "disabled_tools", frozenset(self.disabled_tools))
        if self.toolsets is not None:
            object.__setattr__(self, "toolsets", frozenset(self.toolsets))


@dataclass(frozen=True, slots=True)
class Authenticator:
    """Recognises one kind of credential.

    `authenticate` returns the identity, or `None` if the credential is missing or of another kind. It is called for
    every call, including those without `Authorization`, unless it is `bearer_only`. It raises `Rejected` for an invalid
    credential of its own kind; no other authenticator is tried then.
    """

    name: str
    authenticate: Callable[[Credentials], Awaitable[Identity | None]]
    bearer_only: bool = False


@dataclass(frozen=True, slots=True)
class Authorizer:
    """Decides whether a caller may use a tool. `authorize` returns `None` to allow it, or the reason for a refusal."""

    name: str
    authorize: Callable[[Caller, ToolInfo], Awaitable[str | None]]


def by_client_ip(caller: Caller) -> str:
    """Return the IP address of the caller, to count callers by it."""
    return caller.client_ip


def by_subject(caller: Caller) -> str:
    """Return the account of the caller, or the IP address without an account, to count callers by it."""
    return caller.subject or caller.client_ip


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Limits how often a tool is used.

    `rate_for` is called once for each tool and plan at startup; `None` means no limit. `key` is called for each call,
    and callers with the same key share a limit.
    """

    name: str
    rate_for: Callable[[ToolInfo, str], Rate | None]
    key: Callable[[Caller], str] = by_client_ip


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """How long a result may be served from the cache, in seconds (0 means never), and to whom."""

    seconds: int
    share: Literal["everyone", "subject"] = "everyone"


@dataclass(frozen=True, slots=True)
class CacheRule:
    """Decides how results are cached. `policy_for` is called once per tool and plan; `None` means no preference."""

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
    """Creates the promotional block of all responses, once at startup. The operator selects the brander by name."""

    name: str
    block: Callable[[Branding], Mapping[str, Any]]


BackendKind = Literal["cache", "limits", "files"]


@dataclass(frozen=True, slots=True)
class Backend:
    """A replaceable part of the host, which the operator selects by name.

    `factory` is called once in each process with the host's settings, and returns an object that implements the
    protocol of `kind` in `pressroom.sdk.backends`.
    """

    kind: BackendKind
    name: str
    factory: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One line of `/llms.txt`: a title, a URL (absolute or a path) and a short note.

    `text` is for `/llms-full.txt`; for long texts, use `read`, which is only called there. The result of `read` is
    cached as long as `version` stays the same, or for a minute without a version. Entries with `published_at` come
    before the others in their section, newest first.
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
    """Provides the entries of a section of the text index each time the index is read."""

    section: str
    entries: Callable[[], Awaitable[Iterable[IndexEntry]]]


@dataclass(frozen=True, slots=True)
class OverviewSection:
    """A section of the dashboard's overview, above the host's own sections.

    `html` takes the account's id and returns the section for the dashboard: an element with an `h2` heading, or an
    empty text if there is nothing to show. It is inserted into the page unchanged, so escape user input, and begin ids
    with the plugin's id. Use links rather than forms. Sections are ordered by `position`, then by plugin id. `html` may
    take two seconds; if it fails, the page leaves the section out.

    With `by_role`, `html` takes the user's `AccountRole` in the account as its second argument: leave out links to
    actions that this role does not allow.
    """

    name: str
    html: Callable[..., Awaitable[str]]
    position: int = 100
    by_role: bool = False


@dataclass(frozen=True, slots=True)
class PublishingTargets:
    """Lists where the tools of a plugin publish for an account, such as its connected websites.

    Users see the names before they let an app publish. `names` takes the account's id and returns the names, such as
    `blog.example`, in the order in which they are shown. It may take about a second; if it fails, the consent page
    mentions websites without naming them.
    """

    name: str
    names: Callable[[str], Awaitable[Iterable[str]]]


@dataclass(frozen=True, slots=True)
class Observer:
    """Watches finished calls. Exceptions are counted, and never reach clients.

    `observe` is either a synchronous function that returns at once, since the response waits for it, or a coroutine
    function, which does not delay the response and may take 30 seconds.
    """

    name: str
    observe: Callable[[CallRecord], Awaitable[None] | None]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One row of `pressroom doctor`. `hint` tells operators what to do if the status is not `ok`."""

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
    """A resource that lives as long as the process.

    Lifespans are entered in order of plugin ID, those of required plugins first, and exited in reverse.
    """

    name: str
    enter: Callable[[], AbstractAsyncContextManager[Any]]
