"""Tools for redirects on websites."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

from pressroom.sdk import Annotations, Call, InvalidInput, Params, PluginContext, ToolResult, mcp_tool
from pydantic import BaseModel, Field, WithJsonSchema

from pressroom_content.contract import RemoteRedirect, Site, SiteAddress, SiteGone, WebsiteId
from pressroom_content.tools.websites import context
from pressroom_content.websites.redirects import RedirectReview, check_targets, judge, read_path, read_target
from pressroom_content.websites.store import Websites


class RedirectRow(BaseModel):
    """A redirect of a site."""

    id: str
    from_path: str
    to: str
    permanent: bool


class JudgedRow(RedirectRow):
    """A redirect, and what is wrong with it."""

    hops: int = Field(description="How many redirects a visitor passes.")
    leads_to: str = Field(description="Where it ends.")
    status: int | None = Field(description="What the target answers with; null where it was not asked.")
    problems: list[str] = Field(description="Chains, loops and dead targets, in words; empty where it is sound.")


class RedirectsParams(Params):
    """Whose redirects."""

    website_id: WebsiteId
    check: bool = Field(default=False, description="Request the targets, at most 100.")


class RedirectsAnswer(BaseModel):
    """The answer of `list_redirects`."""

    redirects: list[JudgedRow]


@mcp_tool(
    name="list_redirects",
    title="Redirects",
    description=(
        "Lists the redirects of a website and what is wrong with them: chains and loops and, with check, targets that "
        "do not answer. Use it before set_redirect, and to clean up. Returns redirects, each with its problems."
    ),
    result=RedirectsAnswer,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("publishing",),
    timeout=120,
)
async def list_redirects(params: RedirectsParams, call: Call) -> ToolResult:
    """Return the redirects of a site."""
    plugin = context(call)
    address, site = await _opened(plugin, call.caller.subject, params.website_id)
    found = judge(await site.redirects(), address.url)
    if params.check:
        found = await check_targets(plugin, found, address.url)
    rows = [_judged(one) for one in found]
    lines = [
        f"{row.from_path} → {row.to} ({'permanent' if row.permanent else 'temporary'})"
        f"{': ' + '; '.join(row.problems) if row.problems else ''}"
        for row in rows
    ]
    return ToolResult("\n".join(lines) or "The site has no redirects.", RedirectsAnswer(redirects=rows))


class SetRedirectParams(Params):
    """What to set or remove."""

    website_id: WebsiteId
    from_path: str = Field(min_length=1, max_length=500, description="The old path, such as /old-path.")
    to: Annotated[
        str | None,
        Field(min_length=1, max_length=2000),
        WithJsonSchema({"type": ["string", "null"]}),
        Field(description="The new path or a full URL; null removes the redirect."),
    ]
    permanent: bool = Field(default=True, description="301; false: 302.")


class RedirectAnswer(BaseModel):
    """The answer of `set_redirect`."""

    redirect: RedirectRow | None = Field(description="What is there now; null where it was removed.")
    before: RedirectRow | None = Field(
        description="What it replaced or removed: set it again to undo; null if nothing."
    )


@mcp_tool(
    name="set_redirect",
    title="Set or remove a redirect",
    description=(
        "Adds a redirect, changes where it leads, or removes it. Only where get_website shows "
        "capabilities.redirects. Ask the user before you remove one. Returns redirect, and what it replaced as before."
    ),
    result=RedirectAnswer,
    # Not destructive: a redirect is no more than its arguments, and `before` has those that undo the call.
    annotations=Annotations(idempotent=True, open_world=True),
    toolsets=("publishing",),
    publishes=True,
    timeout=60,
)
async def set_redirect(params: SetRedirectParams, call: Call) -> ToolResult:
    """Add, change or remove the redirect of a path."""
    source = read_path(params.from_path)
    target = read_target(params.to, source) if params.to is not None else None
    address, site = await _opened(context(call), call.caller.subject, params.website_id)
    there = await site.redirects()
    before = next((one for one in there if one.source == source), None)
    if target is None:
        return await _removed(site, source, before)
    if before is not None and (before.target, before.permanent) == (target, params.permanent):
        return ToolResult(f"{source} leads to {target} already.", RedirectAnswer(redirect=_row(before), before=None))
    trial = RemoteRedirect("", source, target, params.permanent)
    problems = judge([trial, *(one for one in there if one.source != source)], address.url)[0].problems
    if any("loop" in problem for problem in problems):
        raise InvalidInput("to", f"would make a loop: {problems[0]}; list_redirects shows the redirects")
    made = await site.add_redirect(source, target, permanent=params.permanent)
    text = f"{source} leads to {target} ({'permanent' if params.permanent else 'temporary'})."
    text += f" Before, it led to {before.target}." if before is not None else ""
    text += f" Note: {problems[0]}." if problems else ""
    return ToolResult(text, RedirectAnswer(redirect=_row(made), before=_row(before) if before else None))


async def _removed(site: Site, source: str, before: RemoteRedirect | None) -> ToolResult:
    if before is None:
        return ToolResult(f"{source} has no redirect.", RedirectAnswer(redirect=None, before=None))
    with suppress(SiteGone):  # somebody was faster
        await site.remove_redirect(before.id)
    text = f"The redirect from {source} to {before.target} is removed."
    return ToolResult(text, RedirectAnswer(redirect=None, before=_row(before)))


async def _opened(plugin: PluginContext, user_id: str, website_id: str) -> tuple[SiteAddress, Site]:
    return await Websites(plugin).open(user_id, website_id)


def _row(one: RemoteRedirect) -> RedirectRow:
    return RedirectRow(id=one.id, from_path=one.source, to=one.target, permanent=one.permanent)


def _judged(one: RedirectReview) -> JudgedRow:
    return JudgedRow(
        **_row(one.redirect).model_dump(),
        hops=one.hops,
        leads_to=one.final,
        status=one.status,
        problems=list(one.problems),
    )


TOOLS = (list_redirects, set_redirect)
