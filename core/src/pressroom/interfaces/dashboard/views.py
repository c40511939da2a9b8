"""View models of the dashboard templates, with formatted times and numbers."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from pressroom.accounts.activity import LAST_USES_LIMIT, LastUses
from pressroom.accounts.quotas import format_size
from pressroom.accounts.records import BrowserSession, Connection
from pressroom.catalog.tool import BY_NAME, PlanView, Tool, allows, tools_by_set
from pressroom.http.access_form import ToolsetOption, title_of_tool, toolset_options
from pressroom.http.page_frame import clip, title_of
from pressroom.interfaces.dashboard.navigation import CONNECTIONS
from pressroom.sdk import Activity, Generator, QuotaUse, StorageUsage
from pressroom.sdk.declaration import CORE

_SPANS: Final = ((86_400 * 365, "year"), (86_400 * 30, "month"), (86_400, "day"), (3600, "hour"), (60, "minute"))

_BROWSERS: Final = (
    (re.compile(r"\bEdgA?/"), "Edge"),
    (re.compile(r"\bOPR/"), "Opera"),
    (re.compile(r"\bSamsungBrowser/"), "Samsung Internet"),
    (re.compile(r"\b(Firefox|FxiOS)/"), "Firefox"),
    (re.compile(r"\b(Chrome|Chromium|CriOS|HeadlessChrome)/"), "Chrome"),
    (re.compile(r"\bSafari/"), "Safari"),
)
_SYSTEMS: Final = (
    (re.compile(r"\bAndroid\b"), "Android"),
    (re.compile(r"\b(iPhone|iPad|iPod)\b"), "iOS"),
    (re.compile(r"\bCrOS\b"), "ChromeOS"),
    (re.compile(r"\bWindows\b"), "Windows"),
    (re.compile(r"\bMac OS X\b|\bMacintosh\b"), "macOS"),
    (re.compile(r"\bLinux\b"), "Linux"),
)


def day(moment: datetime) -> str:
    """Format a date: `21 Nov 2026`."""
    moment = moment.astimezone(UTC)
    return f"{moment.day} {moment:%b %Y}"


def moment_text(moment: datetime) -> str:
    """Format a date with its time: `21 Nov 2026, 02:03 UTC`."""
    return f"{day(moment)}, {moment.astimezone(UTC):%H:%M} UTC"


def ago(moment: datetime, now: datetime) -> str:
    """Format the time since a moment in its largest whole unit: `3 hours ago`."""
    seconds = int((now - moment).total_seconds())
    for size, unit in _SPANS:
        if seconds >= size:
            count = seconds // size
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "just now"


def duration(seconds: float) -> str:
    """Format a duration: `85 ms`, `1.4 s`."""
    return f"{round(seconds * 1000)} ms" if seconds < 1 else f"{seconds:.1f} s"


def browser_name(user_agent: str) -> str:
    """Return the likely browser and operating system of a `User-Agent`."""
    browser = next((name for pattern, name in _BROWSERS if pattern.search(user_agent)), "")
    system = next((name for pattern, name in _SYSTEMS if pattern.search(user_agent)), "")
    return " on ".join(part for part in (browser, system) if part) or user_agent[:60] or "Unknown browser"


_LOW = 0.8
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")


@dataclass(frozen=True, slots=True)
class Meter:
    """A quota meter. `state` is empty, `low` (80 % used) or `over`; the bar shows `filled` out of `scale`."""

    title: str
    count: str
    limit: int | None
    filled: int
    scale: int
    note: str
    state: str


def meter(use: QuotaUse) -> Meter:
    """Return the meter of a quota."""
    title, resets = title_of(use.quota), f"starts again on {day(use.resets_at)}"
    if use.limit is None:
        return Meter(title, f"{use.used:,}", None, 0, 1, f"No limit; the count {resets}", "")
    remaining = max(0, use.limit - use.used)
    state = "over" if not remaining else "low" if use.used >= _LOW * use.limit else ""
    note = f"{remaining:,} left; {resets}" if remaining else f"Used up; {resets}"
    return Meter(
        title,
        f"{use.used:,} of {use.limit:,}",
        use.limit,
        min(use.used, use.limit),
        max(use.limit, 1),
        note,
        state,
    )


def storage_meter(usage: StorageUsage) -> Meter:
    """Return the meter of an account's storage."""
    by_size = sorted((kind for kind in usage.kinds if kind.size), key=lambda kind: -kind.size)
    note = ", ".join(f"{kind.title} {format_size(kind.size)}" for kind in by_size) or "Nothing is stored yet"
    if usage.limit is None:
        return Meter("Storage", format_size(usage.used), None, 0, 1, note, "")
    state = "over" if usage.used >= usage.limit else "low" if usage.used >= _LOW * usage.limit else ""
    count = f"{format_size(usage.used)} of {format_size(usage.limit)}"
    return Meter("Storage", count, usage.limit, min(usage.used, usage.limit), max(usage.limit, 1), note, state)


@dataclass(frozen=True, slots=True)
class CallRow:
    """A call in the activity list."""

    tool: str
    ok: bool
    result: str
    connection: str
    connection_path: str
    client_ip: str
    duration: str
    at: str
    at_text: str
    ago: str


def call_rows(calls: Iterable[Activity], now: datetime) -> list[CallRow]:
    """Return the rows of an activity list."""
    return [
        CallRow(
            tool=call.tool,
            ok=call.code == "ok",
            result=("from the cache" if call.cached else "ok") if call.code == "ok" else call.code.replace("_", " "),
            connection=call.member or call.connection_name or "—",
            connection_path=f"{CONNECTIONS}/{call.connection}" if call.connection_name else "",
            client_ip=call.client_ip or "—",
            duration=duration(call.duration),
            at=call.at.isoformat(timespec="seconds"),
            at_text=moment_text(call.at),
            ago=ago(call.at, now),
        )
        for call in calls
    ]


@dataclass(frozen=True, slots=True)
class ConnectionView:
    """A connection, in a list or on its own page."""

    path: str
    name: str
    kind: str
    signed_out: str
    is_key: bool
    detail_title: str
    detail: str
    off: str
    level: str
    created: str
    created_at: str
    used: str
    used_at: str
    client_ip: str


def connection_row(connection: Connection, now: datetime, prefix: str, tools: Container[str]) -> ConnectionView:
    """Return the view of a connection.

    `prefix` is the prefix of API keys. Only disabled tools that are in `tools`, those of the plan, are counted.
    """
    is_key, used = connection.kind == "api_key", connection.last_used_at
    off = sum(name in tools for name in connection.disabled_tools)
    return ConnectionView(
        path=f"{CONNECTIONS}/{connection.id}",
        name=connection.name or "Unnamed",
        kind="API key" if is_key else "Signed-out client" if connection.signed_out_at else "Signed-in client",
        signed_out=moment_text(connection.signed_out_at) if connection.signed_out_at else "",
        is_key=is_key,
        detail_title="Key" if is_key else "Sends you back to",
        detail=f"{prefix}_key_…{connection.hint}" if is_key else ", ".join(connection.redirect_hosts),
        off=f"{off} tool{'' if off == 1 else 's'} off" if off else "",
        level=BY_NAME[connection.access].title,
        created=day(connection.created_at),
        created_at=connection.created_at.isoformat(timespec="seconds"),
        used=ago(used, now) if used else "",
        used_at=used.isoformat(timespec="seconds") if used else "",
        client_ip=connection.last_used_address,
    )


@dataclass(frozen=True, slots=True)
class Switch:
    """The switch of a connection's tool. `name` is its MCP name.

    `level` is the title of the access level that the tool needs, if the connection has a lower one.
    """

    name: str
    title: str
    summary: str
    on: bool
    used: str
    used_at: str
    level: str


@dataclass(frozen=True, slots=True)
class ToolGroup:
    """A toolset of a connection with the switches of its tools.

    A tool in several toolsets has its switch in only one of them; `others` lists the titles of tools with their switch
    in another toolset.
    """

    option: ToolsetOption
    used: str
    used_at: str
    switches: list[Switch]
    others: str


def tool_groups(
    plan: PlanView, connection: Connection, default: frozenset[str], uses: LastUses, now: datetime
) -> list[ToolGroup]:
    """Return the plan's toolsets with the switches of all its MCP tools.

    `default` contains the toolsets listed if the connection's owner chose none.
    """
    sets, groups = tools_by_set(plan), []
    for option in toolset_options(plan, connection.toolsets, default):
        home_tools = [tool for tool in sets[option.name] if _home(tool) == option.name]
        other_titles = [title_of_tool(tool) for tool in sets[option.name] if _home(tool) != option.name]
        last = [uses.by_tool[tool.mcp_name] for tool in sets[option.name] if tool.mcp_name in uses.by_tool]
        used, used_at = _use(max(last, default=None), uses, now)
        switches = [_switch(tool, connection, uses, now) for tool in home_tools]
        groups.append(ToolGroup(option, used, used_at, switches, ", ".join(other_titles)))
    return groups


def _home(tool: Tool) -> str:
    """Return the toolset that contains a tool's switch: its first one other than core."""
    return next((name for name in tool.info.toolsets if name != CORE), CORE)


def _switch(tool: Tool, connection: Connection, uses: LastUses, now: datetime) -> Switch:
    declaration = tool.declaration
    if isinstance(declaration, Generator):
        summary = declaration.summary
    else:
        summary = clip(_SENTENCE_END.split(declaration.description.strip(), 1)[0])
    used, used_at = _use(uses.by_tool.get(tool.mcp_name), uses, now)
    level = "" if allows(connection.access, tool) else BY_NAME[tool.access].title
    on = tool.mcp_name not in connection.disabled_tools
    return Switch(tool.mcp_name, title_of_tool(tool), summary, on, used, used_at, level)


def _use(at: datetime | None, uses: LastUses, now: datetime) -> tuple[str, str]:
    """Return a last use as text and as a timestamp. With incomplete data, an unknown use is not shown as none."""
    if at is None:
        return ("not used" if uses.is_complete else f"not in its latest {LAST_USES_LIMIT:,} calls"), ""
    return f"used {ago(at, now)}", at.isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class SessionView:
    """A signed-in browser."""

    browser: str
    client_ip: str
    current: bool
    created: str
    created_at: str
    seen: str
    seen_at: str


def session_rows(sessions: Sequence[BrowserSession], current: BrowserSession, now: datetime) -> list[SessionView]:
    """Return the rows of sessions, with the current session first."""
    other_sessions = [session for session in sessions if session.token_hash != current.token_hash]
    return [
        SessionView(
            browser=browser_name(session.user_agent),
            client_ip=session.client_ip,
            current=session is current,
            created=day(session.created_at),
            created_at=session.created_at.isoformat(timespec="seconds"),
            seen=ago(session.seen_at, now),
            seen_at=session.seen_at.isoformat(timespec="seconds"),
        )
        for session in (current, *other_sessions)
    ]
