"""Tools for internal links between an account's texts."""

from __future__ import annotations

from typing import Annotated, Final

from pressroom.sdk import Annotations, Call, Integer, Params, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_content.articles import links
from pressroom_content.tools.common import ContentId, context

MAX_LINKS: Final = 50


class SuggestLinksParams(Params):
    """For which article."""

    content_id: ContentId
    limit: Integer = Field(default=10, ge=1, le=50, description="Maximum number.")


class LinkSuggestion(BaseModel):
    """A link that fits into the article."""

    target_url: str = Field(description="The page to link to.")
    target_title: str = Field(description="The title of that text.")
    anchor_text: str = Field(description="The text of the stored body that becomes the link.")
    position: int = Field(description="Where that begins in the stored body, in characters from 0.")
    reason: str = Field(description="Why this text was chosen.")
    score: float = Field(description="How related the texts are; more is better.")


class LinkSuggestions(BaseModel):
    """The result of `suggest_internal_links`."""

    suggestions: list[LinkSuggestion] = Field(description="The links, best first; each has a place of its own.")
    version: int = Field(description="The version that the places are of: expected_version of apply_internal_links.")


@mcp_tool(
    name="suggest_internal_links",
    title="Suggest internal links",
    description=(
        "Suggests links from an article to the account's other published articles and to synced pages of its websites "
        "on the same subject, each with the exact words in the body that become the link. Use it before publishing, "
        "then give those that fit to apply_internal_links."
    ),
    result=LinkSuggestions,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("core", "writing", "seo"),
)
async def suggest_internal_links(params: SuggestLinksParams, call: Call) -> ToolResult:
    """Suggest links for an article of the caller's account."""
    article, proposals = await links.suggested(context(call), call.caller.subject, params.content_id, params.limit)
    suggestions = [
        LinkSuggestion(
            target_url=proposal.target.url,
            target_title=proposal.target.title,
            anchor_text=proposal.place.text,
            position=proposal.place.position,
            reason=proposal.reason,
            score=proposal.score,
        )
        for proposal in proposals
    ]
    lines = [
        f"- “{suggestion.anchor_text}” at {suggestion.position} → {suggestion.target_url} ({suggestion.reason})"
        for suggestion in suggestions
    ]
    data = LinkSuggestions(suggestions=suggestions, version=article.version)
    text = (
        "\n".join([f"For version {article.version}:", *lines])
        if lines
        else "Nothing related found that the text can link to. sync_website_content reads a website's older posts."
    )
    return ToolResult(text, data)


class LinkParams(Params):
    """A link."""

    target_url: str = Field(min_length=1, max_length=2048, description="The page to link to.")
    anchor_text: str = Field(min_length=1, max_length=500, description="Words that become the link.")
    position: Integer = Field(ge=0, le=2**31 - 1, description="Where they begin in the stored body.")


class ApplyParams(Params):
    """Links to add."""

    content_id: ContentId
    expected_version: Integer = Field(ge=1, le=2**31 - 1, description="version of the suggestions.")
    links: Annotated[list[LinkParams], Field(min_length=1, max_length=MAX_LINKS)] = Field(
        description="As suggest_internal_links returned them."
    )


class AppliedLinksOut(BaseModel):
    """The result of `apply_internal_links`."""

    content_id: str = Field(description="The article.")
    version: int = Field(description="The newest version.")
    applied: int = Field(description="How many links were added.")


@mcp_tool(
    name="apply_internal_links",
    title="Add internal links",
    description=(
        "Adds links from suggest_internal_links to an article, at their exact places: all or none. Live posts change "
        "only with publish_content. Returns the new version."
    ),
    result=AppliedLinksOut,
    annotations=Annotations(idempotent=True),
    toolsets=("core", "writing", "seo"),
)
async def apply_internal_links(params: ApplyParams, call: Call) -> ToolResult:
    """Add links to an article of the caller's account."""
    chosen = [links.ChosenLink(link.target_url, link.anchor_text, link.position) for link in params.links]
    updated = await links.applied(
        context(call),
        call.caller.subject,
        params.content_id,
        params.expected_version,
        chosen,
        origin=call.caller.connection_name,
    )
    article = updated.article
    data = AppliedLinksOut(content_id=article.id, version=article.version, applied=len(chosen))
    count = "1 link" if len(chosen) == 1 else f"{len(chosen)} links"
    return ToolResult(f"{count} added; {article.id} is at version {article.version}.", data)


TOOLS: Final = (suggest_internal_links, apply_internal_links)
