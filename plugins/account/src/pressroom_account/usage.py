"""Tool for the plan, quotas and usage of the account, and access to the server's services."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final, get_args

from pressroom.sdk import AccountUsage, Annotations, Call, Caller, HostServices, Params, QuotaUse, ToolResult, mcp_tool
from pressroom.sdk.declaration import Access
from pydantic import BaseModel, Field

_LEVELS: Final[tuple[Access, ...]] = get_args(Access)


class UsageParams(Params):
    """It takes no arguments."""


class ClassUsage(BaseModel):
    """One quota class in this calendar month."""

    used: int = Field(description="Uses so far this month.")
    limit: int | None = Field(description="Uses included in the plan each month; null means unlimited.")
    left: int | None = Field(description="Uses left this month; null means unlimited.")
    resets_at: datetime = Field(description="When the next calendar month begins (UTC) and counting starts again.")


class StoredKindOut(BaseModel):
    """What an account stores of one kind."""

    title: str = Field(description="What is stored, such as images.")
    bytes: int = Field(description="Bytes stored of this kind.")


class StorageUsageOut(BaseModel):
    """What the account stores."""

    used_bytes: int = Field(description="Bytes stored by the account.")
    limit_bytes: int | None = Field(description="Bytes included in the plan; null means unlimited.")
    left_bytes: int | None = Field(description="Bytes left; null means unlimited.")
    kinds: dict[str, StoredKindOut] = Field(description="Bytes by what is stored, such as articles.")


class HiddenToolsOut(BaseModel):
    """Tools of this server that cannot be called now, for one reason."""

    reason: str = Field(description="Why they cannot be called, and what would change that.")
    tools: list[str] = Field(description="Their names.")


class UsageOut(BaseModel):
    """The result of `get_account_usage`."""

    plan: str = Field(description="The plan's name in the configuration, such as free.")
    plan_title: str = Field(description="The plan's name as people see it.")
    usage: dict[str, ClassUsage] = Field(description="The quota classes by name, such as articles_created.")
    storage: StorageUsageOut = Field(description="What the account stores, by kind, and how much the plan includes.")
    connections: int = Field(description="How many API keys and clients are connected to the account.")
    hidden_tools: list[HiddenToolsOut] = Field(description="The tools that cannot be called, by reason.")


@mcp_tool(
    name="get_account_usage",
    title="Plan and usage",
    description=(
        "Shows the account's plan, what is left of each monthly quota and when it resets, storage, and which tools "
        "cannot be called and why: not in the plan, not set up on this server, or not allowed to this connection. "
        "Use it before a large task, after a quota error, or when a tool that the user asks for is missing."
    ),
    result=UsageOut,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("core", "account"),
)
async def get_account_usage(params: UsageParams, call: Call) -> ToolResult:
    """Return what the caller's account has and used."""
    del params
    usage = await services_of(call).accounts.usage(call.caller.subject, plan=call.caller.plan)
    data = UsageOut(
        plan=usage.plan,
        plan_title=usage.plan_title,
        usage={use.quota: _class_usage(use) for use in usage.quotas},
        storage=_storage(usage),
        connections=usage.connections,
        hidden_tools=_hidden_tools(usage, call.caller, call.base_url),
    )
    return ToolResult("\n".join(_lines(data)), data)


def _class_usage(use: QuotaUse) -> ClassUsage:
    left = None if use.limit is None else max(0, use.limit - use.used)
    return ClassUsage(used=use.used, limit=use.limit, left=left, resets_at=use.resets_at)


def _storage(usage: AccountUsage) -> StorageUsageOut:
    stored = usage.storage
    kinds = stored.kinds if stored is not None else ()
    used, limit = sum(kind.size for kind in kinds), stored.limit if stored is not None else None
    return StorageUsageOut(
        used_bytes=used,
        limit_bytes=limit,
        left_bytes=None if limit is None else max(0, limit - used),
        kinds={kind.name: StoredKindOut(title=kind.title, bytes=kind.size) for kind in kinds},
    )


def _hidden_tools(usage: AccountUsage, caller: Caller, base_url: str) -> list[HiddenToolsOut]:
    by_reason: dict[str, list[str]] = {}
    for name, plans in usage.hidden_tools.items():
        by_reason.setdefault(f"in {_listed(plans)}" if plans else "in no plan of this server", []).append(name)
    for name, reason in usage.unavailable_tools.items():
        by_reason.setdefault(f"not available: {reason}", []).append(name)
    page = f"{base_url}/dashboard/connections/{caller.connection}"
    off = sorted(caller.disabled_tools.intersection(usage.tools))
    if off:
        by_reason[f"switched off for this connection; the user can switch them on at {page}"] = off
    for name, needed in usage.tools.items():
        if name in off or _LEVELS.index(needed) <= _LEVELS.index(caller.access):
            continue
        if _LEVELS.index(needed) <= _LEVELS.index(caller.granted):
            reason = "this client asked to read only"
        else:
            reason = f"beyond the access level of this connection; the user can change it at {page}"
        by_reason.setdefault(reason, []).append(name)
    return [HiddenToolsOut(reason=reason, tools=names) for reason, names in by_reason.items()]


def _listed(plans: Iterable[str]) -> str:
    titles = list(plans)
    return f"the plan{'s' if len(titles) > 1 else ''} {', '.join(titles)}"


def _lines(data: UsageOut) -> Iterator[str]:
    yield f"Plan: {data.plan_title}. Connections: {data.connections}."
    for quota, use in data.usage.items():
        if use.limit is None:
            yield f"{quota}: {use.used} used this month, unlimited."
        else:
            yield f"{quota}: {use.used} of {use.limit} used, {use.left} left until {use.resets_at:%Y-%m-%d} (UTC)."
    if not data.usage:
        yield "The plan has no monthly quotas."
    parts = ", ".join(f"{kind.title} {kind.bytes:,}" for kind in data.storage.kinds.values() if kind.bytes)
    bound = "no bound" if data.storage.limit_bytes is None else f"of {data.storage.limit_bytes:,}"
    yield f"Storage: {data.storage.used_bytes:,} bytes, {bound}{f' ({parts})' if parts else ''}."
    if data.hidden_tools:
        yield "Tools that cannot be called:"
        yield from (f"- {', '.join(hidden.tools)}: {hidden.reason}" for hidden in data.hidden_tools)


def services_of(call: Call) -> HostServices:
    """Return the server's services. Raises `RuntimeError` outside the server's process."""
    if call.plugin is None:
        raise RuntimeError(f"{call.tool} must run in the server's own process")
    return call.plugin.services
