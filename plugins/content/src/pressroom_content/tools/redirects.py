"""Tools for redirects on websites."""

from __future__ import annotations

from typing import Annotated

from pressroom.sdk import Annotations, Call, InvalidInput, NotFound, Params, PluginContext, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_content.contract import RemoteRedirect, Site, SiteAddress, SiteGone, WebsiteId
from pressroom_content.tools.websites import confirmed, context
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
    check: bool = Field(default=False, description="Whether to ask the targets if they are there, at most 100.")


class RedirectsAnswer(BaseModel):
    """The answer of `list_redirects`."""

    redirects: list[JudgedRow]


@mcp_tool(
    name="list_redirects",
    title="Redirects",
    description=(
        "Lists the redirects of a website with chains and loops; with check, also targets that do not answer. Use it "
        "before adding one, and to clean up. Returns redirects, each with its problems."
    ),
    result=RedirectsAnswer,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("redirects",),
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
        f"{row.id}  {row.from_path} → {row.to}{': ' + '; '.join(row.problems) if row.problems else ''}" for row in rows
    ]
    return ToolResult("\n".join(lines) or "The site has no redirects.", RedirectsAnswer(redirects=rows))


class NewRedirectParams(Params):
    """What to add."""

    website_id: WebsiteId
    from_path: str = Field(min_length=1, max_length=500, description="The old path of the site, such as /old-path.")
    to: str = Field(min_length=1, max_length=2000, description="The new path of the site, or a full URL.")
    permanent: bool = Field(default=True, description="Permanent (301) moves what search engines know; else 302.")


class RedirectAnswer(BaseModel):
    """The answer of `create_redirect`."""

    redirect: RedirectRow


@mcp_tool(
    name="create_redirect",
    title="Add a redirect",
    description=(
        "Adds a redirect on a website whose platform supports it (get_website: capabilities.redirects). Repeating it "
        "gives the same redirect; another target replaces the old one where the platform allows it."
    ),
    result=RedirectAnswer,
    annotations=Annotations(idempotent=True, open_world=True),
    toolsets=("redirects",),
    timeout=60,
)
async def create_redirect(params: NewRedirectParams, call: Call) -> ToolResult:
    """Add a redirect, unless it is there already."""
    source = read_path(params.from_path)
    target = read_target(params.to, source)
    address, site = await _opened(context(call), call.caller.subject, params.website_id)
    there = await site.redirects()
    same = next(
        (one for one in there if (one.source, one.target, one.permanent) == (source, target, params.permanent)), None
    )
    if same is None:
        trial = RemoteRedirect("", source, target, params.permanent)
        problems = judge([trial, *(one for one in there if one.source != source)], address.url)[0].problems
        if any("loop" in problem for problem in problems):
            raise InvalidInput("to", f"would make a loop: {problems[0]}")
        same = await site.add_redirect(source, target, permanent=params.permanent)
    row = _row(same)
    return ToolResult(f"{row.from_path} leads to {row.to} (redirect_id {row.id}).", RedirectAnswer(redirect=row))


class DeleteRedirectParams(Params):
    """What to remove."""

    website_id: WebsiteId
    redirect_id: Annotated[str, Field(min_length=1, max_length=200, description="As list_redirects names it.")]
    confirm: bool = Field(description="Whether the user has agreed: the old URL stops working.")


class DeleteAnswer(BaseModel):
    """The answer of `delete_redirect`."""

    deleted: bool


@mcp_tool(
    name="delete_redirect",
    title="Remove a redirect",
    description=(
        "Removes a redirect from a website; its old URL then answers that nothing is there. Ask the user first, "
        "then set confirm to true."
    ),
    result=DeleteAnswer,
    annotations=Annotations(destructive=True, idempotent=True, open_world=True),
    toolsets=("redirects",),
    timeout=60,
)
async def delete_redirect(params: DeleteRedirectParams, call: Call) -> ToolResult:
    """Remove a redirect."""
    confirmed(confirm=params.confirm)
    _, site = await _opened(context(call), call.caller.subject, params.website_id)
    try:
        await site.remove_redirect(params.redirect_id)
    except SiteGone:
        raise NotFound("the site has no such redirect; list_redirects shows the ones that it has") from None
    return ToolResult("The redirect is gone.", DeleteAnswer(deleted=True))


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


TOOLS = (list_redirects, create_redirect, delete_redirect)
