"""Tools for the content of a website: its terms, settings, posts and redirects."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any, cast

from pressroom.sdk import Annotations, Call, Day, Integer, InvalidInput, Params, PluginContext, ToolResult, mcp_tool
from pydantic import BaseModel, Field, WithJsonSchema

from pressroom_content.contract import RemoteRedirect, Site, SiteGone, SiteInfo, TermKind, WebsiteId
from pressroom_content.tools.common import context
from pressroom_content.tools.websites import DomainOut, WebsiteDetails, details, domain_lines, settings_line
from pressroom_content.websites.connectors import term_kinds
from pressroom_content.websites.domains import Domains
from pressroom_content.websites.redirects import RedirectReview, check_targets, read_path, read_target, review_redirects
from pressroom_content.websites.store import Websites
from pressroom_content.websites.sync import JOB, SyncPass, Taxonomies


class TaxonomyParams(Params):
    """Which terms."""

    website_id: WebsiteId
    kind: str = Field(description="Not every platform has all three.")
    query: str | None = Field(default=None, max_length=200, description="Only names with this text.")
    limit: Integer = Field(default=50, ge=1, le=200, description="Maximum number.")


class TermRow(BaseModel):
    """A term of a site."""

    id: str
    name: str
    slug: str
    count: int | None = Field(description="How many posts have it, if the site says so.")


class TaxonomyResult(BaseModel):
    """The result of `list_site_taxonomies`."""

    items: list[TermRow]
    next_cursor: str | None = Field(description="Always null: narrow a long list with query.")


@mcp_tool(
    name="list_site_taxonomies",
    title="Terms of a website",
    description=(
        "Lists the categories, tags or authors that exist on a website. Use it before create_content, so that articles "
        "use existing ones instead of near-duplicates. Results are cached for ten minutes; narrow long lists with "
        "query."
    ),
    result=TaxonomyResult,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("core", "websites", "publishing"),
    timeout=60,
    choices={"kind": term_kinds},
)
async def list_site_taxonomies(params: TaxonomyParams, call: Call) -> ToolResult:
    """Return terms of a site."""
    kind = cast("TermKind", params.kind)
    terms = await Taxonomies(context(call)).terms(call.caller.subject, params.website_id, kind, params.query or "")
    rows = [TermRow(id=term.id, name=term.name, slug=term.slug, count=term.count) for term in terms[: params.limit]]
    more = "" if len(terms) <= params.limit else f"\n{len(terms) - params.limit} more: narrow it with query"
    text = "\n".join(map(_term_line, rows)) or f"The site has no {params.kind} that matches."
    return ToolResult(text + more, TaxonomyResult(items=rows, next_cursor=None))


def _term_line(row: TermRow) -> str:
    count = "" if row.count is None else f", {row.count} {'post' if row.count == 1 else 'posts'}"
    return f"{row.name} (id {row.id}, slug {row.slug}{count})"


class SettingsParams(Params):
    """What to change."""

    website_id: WebsiteId
    settings: dict[str, Any] = Field(
        description=(
            "Only changes: default_status (publish, draft), author, category, timezone (Europe/Berlin), language "
            "(en-GB), image_policy (rehost, hotlink, none), indexnow (true, false), description, name; built-in sites: "
            "theme (classic, modern, magazine), color_scheme (auto, light, dark), accent_color (#b3402a), logo, "
            "logo_dark and favicon (URLs), logo_has_name (true, false), menu (list of label, url), domain "
            "(blog.example.org; the result says how the user proves it). null restores the default."
        )
    )
    expected_version: Integer | None = Field(default=None, description="The version that you read.")


class SettingsResult(BaseModel):
    """The result of `update_website_settings`."""

    website: WebsiteDetails
    version: int
    domain: DomainOut | None = Field(description="The custom domain of a built-in site, verified or pending.")


@mcp_tool(
    name="update_website_settings",
    title="Website settings",
    description=(
        "Changes settings of a website; get_website shows them. The time zone decides how times without an offset are "
        "read and shown. Returns the website and its new version."
    ),
    result=SettingsResult,
    annotations=Annotations(idempotent=True),
    toolsets=("websites",),
)
async def update_website_settings(params: SettingsParams, call: Call) -> ToolResult:
    """Change settings of a website."""
    if len(str(params.settings)) > 10_000:
        raise InvalidInput("settings", "is too large")
    plugin, user_id = context(call), call.caller.subject
    website = await Websites(plugin).update_settings(
        user_id, params.website_id, params.settings, params.expected_version
    )
    domain = DomainOut.of(await Domains(plugin).state(user_id, website.id))
    data = SettingsResult(website=details(website), version=website.version, domain=domain)
    lines = [f"{website.name} ({website.id})", settings_line(data.website), *domain_lines(domain)]
    return ToolResult("\n".join(lines), data)


class SyncParams(Params):
    """What to read."""

    website_id: WebsiteId
    since: Day | None = Field(default=None, description="Only posts changed on this day or later (UTC).")
    max_items: Integer = Field(default=500, ge=1, le=5000, description="How many posts to read.")
    cursor: str | None = Field(
        default=None, min_length=1, max_length=200, description="next_cursor of the last job, to continue."
    )


class SyncResult(BaseModel):
    """The result of `sync_website_content`."""

    job_id: str = Field(description="get_job shows its progress, and next_cursor where the website has more posts.")


@mcp_tool(
    name="sync_website_content",
    title="Read a website's posts",
    description=(
        "Reads a website's live posts and pages into this account's index, in the background, so that internal links, "
        "duplicates and competing keyphrases are found among them. Nothing changes on the site. Use it once after "
        "connecting a site with older posts; get_job shows the progress, and next_cursor where the site has more."
    ),
    result=SyncResult,
    annotations=Annotations(idempotent=True, open_world=True),
    toolsets=("websites",),
)
async def sync_website_content(params: SyncParams, call: Call) -> ToolResult:
    """Begin to read a site."""
    plugin, user_id = context(call), call.caller.subject
    website = await Websites(plugin).get(user_id, params.website_id)
    if not website.capabilities.get("import_posts", False):
        raise InvalidInput(
            "website_id",
            f"the posts of {website.name} cannot be read: {website.platform} does not offer it. import_content takes "
            "one page at a time",
        )
    if params.cursor is not None:
        SyncPass.of_cursor(params.cursor)
        if params.since is not None:
            raise InvalidInput("since", "goes with the first call only: cursor keeps it; leave one of them out")
    payload = {
        "website_id": website.id,
        "since": params.since,
        "max_items": params.max_items,
        "cursor": params.cursor,
    }
    job_id = await plugin.services.jobs.enqueue(JOB, payload, subject=user_id)
    text = (
        f"Reading {website.name} has begun: job_id {job_id}. get_job shows its progress, and next_cursor where the "
        "website has more posts."
    )
    return ToolResult(text, SyncResult(job_id=job_id))


TOOLS = (list_site_taxonomies, update_website_settings, sync_website_content)


class RedirectRow(BaseModel):
    """A redirect of a site."""

    id: str
    from_path: str
    to: str
    permanent: bool


class ReviewedRedirectRow(RedirectRow):
    """A redirect, and what is wrong with it."""

    hops: int = Field(description="How many redirects a visitor follows.")
    leads_to: str = Field(description="Where it ends.")
    status: int | None = Field(description="The status of the target's response; null if it was not requested.")
    problems: list[str] = Field(description="Chains, loops and dead targets, in words; empty if none.")


class RedirectsParams(Params):
    """Whose redirects."""

    website_id: WebsiteId
    check: bool = Field(default=False, description="Request the targets, at most 100.")


class RedirectsResult(BaseModel):
    """The result of `list_redirects`."""

    redirects: list[ReviewedRedirectRow]


@mcp_tool(
    name="list_redirects",
    title="Redirects",
    description=(
        "Lists the redirects of a website and what is wrong with them: chains and loops and, with check, targets that "
        "do not respond. Use it before set_redirect, and to clean up. Returns redirects, each with its problems."
    ),
    result=RedirectsResult,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("publishing",),
    timeout=120,
)
async def list_redirects(params: RedirectsParams, call: Call) -> ToolResult:
    """Return the redirects of a site."""
    plugin = context(call)
    info, site = await _opened(plugin, call.caller.subject, params.website_id)
    reviews = review_redirects(await site.redirects(), info.url)
    if params.check:
        reviews = await check_targets(plugin, reviews, info.url)
    rows = [_review_row(review) for review in reviews]
    lines = [
        f"{row.from_path} → {row.to} ({'permanent' if row.permanent else 'temporary'})"
        f"{': ' + '; '.join(row.problems) if row.problems else ''}"
        for row in rows
    ]
    return ToolResult("\n".join(lines) or "The site has no redirects.", RedirectsResult(redirects=rows))


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


class RedirectResult(BaseModel):
    """The result of `set_redirect`."""

    redirect: RedirectRow | None = Field(description="The current redirect; null if it was removed.")
    before: RedirectRow | None = Field(
        description="The redirect that was replaced or removed, so that you can restore it; null if there was none."
    )


@mcp_tool(
    name="set_redirect",
    title="Set or remove a redirect",
    description=(
        "Adds a redirect, changes where it leads, or removes it. Only where get_website shows "
        "capabilities.redirects. Ask the user before you remove one. Returns redirect, and as before what it replaced."
    ),
    result=RedirectResult,
    # Not destructive: a redirect consists of its arguments, and `before` has those that undo the call.
    annotations=Annotations(idempotent=True, open_world=True),
    toolsets=("publishing",),
    publishes=True,
    timeout=60,
)
async def set_redirect(params: SetRedirectParams, call: Call) -> ToolResult:
    """Add, change or remove the redirect of a path."""
    source = read_path(params.from_path)
    target = read_target(params.to, source) if params.to is not None else None
    info, site = await _opened(context(call), call.caller.subject, params.website_id)
    redirects = await site.redirects()
    before = next((redirect for redirect in redirects if redirect.source == source), None)
    if target is None:
        return await _removed(site, source, before)
    if before is not None and (before.target, before.permanent) == (target, params.permanent):
        return ToolResult(f"{source} leads to {target} already.", RedirectResult(redirect=_row(before), before=None))
    trial = RemoteRedirect("", source, target, params.permanent)
    others = [redirect for redirect in redirects if redirect.source != source]
    problems = review_redirects([trial, *others], info.url)[0].problems
    if any("loop" in problem for problem in problems):
        raise InvalidInput("to", f"would make a loop: {problems[0]}; list_redirects shows the redirects")
    created = await site.add_redirect(source, target, permanent=params.permanent)
    text = f"{source} leads to {target} ({'permanent' if params.permanent else 'temporary'})."
    text += f" Before, it led to {before.target}." if before is not None else ""
    text += f" Note: {problems[0]}." if problems else ""
    return ToolResult(text, RedirectResult(redirect=_row(created), before=_row(before) if before else None))


async def _removed(site: Site, source: str, before: RemoteRedirect | None) -> ToolResult:
    if before is None:
        return ToolResult(f"{source} has no redirect.", RedirectResult(redirect=None, before=None))
    with suppress(SiteGone):  # it was removed in the meantime
        await site.remove_redirect(before.id)
    text = f"The redirect from {source} to {before.target} is removed."
    return ToolResult(text, RedirectResult(redirect=None, before=_row(before)))


async def _opened(plugin: PluginContext, user_id: str, website_id: str) -> tuple[SiteInfo, Site]:
    return await Websites(plugin).open(user_id, website_id)


def _row(redirect: RemoteRedirect) -> RedirectRow:
    return RedirectRow(id=redirect.id, from_path=redirect.source, to=redirect.target, permanent=redirect.permanent)


def _review_row(review: RedirectReview) -> ReviewedRedirectRow:
    return ReviewedRedirectRow(
        **_row(review.redirect).model_dump(),
        hops=review.hops,
        leads_to=review.final,
        status=review.status,
        problems=list(review.problems),
    )


REDIRECT_TOOLS = (list_redirects, set_redirect)
