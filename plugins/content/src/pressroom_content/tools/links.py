"""Tools for links between own texts, and for texts that are too much alike."""

from __future__ import annotations

from typing import Annotated, Final

from pressroom.sdk import Annotations, Call, Integer, Params, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_content.articles import links
from pressroom_content.text_index.duplicates import duplicates
from pressroom_content.tools.article_fields import ContentId
from pressroom_content.tools.websites import context

MAX_LINKS: Final = 50


class SuggestLinksParams(Params):
    """For which article."""

    content_id: ContentId
    limit: Integer = Field(default=10, ge=1, le=50, description="How many to return at most.")


class LinkSuggestion(BaseModel):
    """A link that would stand well in the article."""

    target_url: str = Field(description="Where it leads.")
    target_title: str = Field(description="What that text is called.")
    anchor_text: str = Field(description="The text of the stored body that becomes the link.")
    position: int = Field(description="Where that begins in the stored body, in characters from 0.")
    reason: str = Field(description="Why this text.")
    score: float = Field(description="How related the texts are; more is better.")


class LinkSuggestions(BaseModel):
    """The answer of `suggest_internal_links`."""

    suggestions: list[LinkSuggestion] = Field(description="The links, best first; each has a place of its own.")
    version: int = Field(description="The version that the places are of: expected_version of apply_internal_links.")


@mcp_tool(
    name="suggest_internal_links",
    title="Suggest internal links",
    description=(
        "Suggests links from an article to the account's other published articles and the synced pages of its "
        "websites: texts about the same things (BM25), each with the exact place in the body whose words become the "
        "link. Text that is a link, a heading or code already is left alone. Use it before publishing, then give the "
        "ones that fit to apply_internal_links. Returns suggestions and the version they are for."
    ),
    result=LinkSuggestions,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("links",),
)
async def suggest_internal_links(params: SuggestLinksParams, call: Call) -> ToolResult:
    """Suggest links for an article of the caller's account."""
    article, found = await links.suggested(context(call), call.caller.subject, params.content_id, params.limit)
    suggestions = [
        LinkSuggestion(
            target_url=one.target.url,
            target_title=one.target.title,
            anchor_text=one.place.text,
            position=one.place.position,
            reason=one.reason,
            score=one.score,
        )
        for one in found
    ]
    lines = [f"- “{one.anchor_text}” at {one.position} → {one.target_url} ({one.reason})" for one in suggestions]
    data = LinkSuggestions(suggestions=suggestions, version=article.version)
    text = (
        "\n".join([f"For version {article.version}:", *lines]) if lines else "Nothing related has a place to link from."
    )
    return ToolResult(text, data)


class LinkParams(Params):
    """A link to add."""

    target_url: str = Field(min_length=1, max_length=2048, description="Where it leads.")
    anchor_text: str = Field(min_length=1, max_length=500, description="The text that becomes the link, exactly.")
    position: Integer = Field(ge=0, le=2**31 - 1, description="Where that begins in the stored body.")


class ApplyParams(Params):
    """Which links."""

    content_id: ContentId
    expected_version: Integer = Field(ge=1, le=2**31 - 1, description="The version that the suggestions were for.")
    links: Annotated[list[LinkParams], Field(min_length=1, max_length=MAX_LINKS)] = Field(
        description="The links to add, as suggest_internal_links returned them: target_url, anchor_text, position."
    )


class AppliedLinksOut(BaseModel):
    """The answer of `apply_internal_links`."""

    content_id: str = Field(description="The article.")
    version: int = Field(description="The newest version.")
    applied: int = Field(description="How many links were added.")


@mcp_tool(
    name="apply_internal_links",
    title="Add internal links",
    description=(
        "Puts links into an article at exact places, as suggest_internal_links returned them: all of them, or none "
        "where one cannot be there. Give the version that the suggestions were for. Live posts stay as they are "
        "until update_publication. Returns the new version and how many were added."
    ),
    result=AppliedLinksOut,
    annotations=Annotations(idempotent=True),
    toolsets=("links",),
)
async def apply_internal_links(params: ApplyParams, call: Call) -> ToolResult:
    """Put links into an article of the caller's account."""
    chosen = [links.ChosenLink(one.target_url, one.anchor_text, one.position) for one in params.links]
    written = await links.applied(
        context(call),
        call.caller.subject,
        params.content_id,
        params.expected_version,
        chosen,
        origin=call.caller.connection_name,
    )
    article = written.article
    data = AppliedLinksOut(content_id=article.id, version=article.version, applied=len(chosen))
    return ToolResult(f"{len(chosen)} links added; {article.id} is at version {article.version}.", data)


class DuplicateParams(Params):
    """For which article, and how much alike."""

    content_id: ContentId
    threshold: float = Field(
        default=0.8, ge=0.1, le=1, description="Which part of both texts must be the same, from 0.1 to 1."
    )


class DuplicateMatch(BaseModel):
    """A text that is much like the article, or has its keyphrase."""

    content_id: str = Field(description="The article; empty for a page that was not written here.")
    url: str = Field(description="Where it is published; may be empty.")
    title: str = Field(description="What it is called.")
    similarity: float = Field(description="Which part of both texts is the same, from 0 to 1.")
    shared: list[str] = Field(description="Passages that both have, and the keyphrase where both have the same.")
    exact: bool = Field(description="Whether the texts were compared word by word; false: an estimate for a page.")


class DuplicateReport(BaseModel):
    """The answer of `check_duplicate_content`."""

    matches: list[DuplicateMatch] = Field(description="The texts, the most alike first; empty if absent.")


@mcp_tool(
    name="check_duplicate_content",
    title="Duplicate content",
    description=(
        "Looks for the account's articles and synced pages that are nearly the same as an article, and for other "
        "articles with its keyphrase. Use it before publishing, or to find texts that compete in search. Returns "
        "matches with the part that is the same and passages that both have; it compares nothing with other people's "
        "sites."
    ),
    result=DuplicateReport,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("seo",),
)
async def check_duplicate_content(params: DuplicateParams, call: Call) -> ToolResult:
    """Return what is like an article of the caller's account."""
    found = await duplicates(context(call), call.caller.subject, params.content_id, params.threshold)
    matches = [
        DuplicateMatch(
            content_id=one.content_id,
            url=one.url,
            title=one.title,
            similarity=one.similarity,
            shared=list(one.shared),
            exact=one.exact,
        )
        for one in found
    ]
    lines = [
        f"- {one.similarity:.0%} the same: {one.title} ({one.content_id or one.url})"
        + (f"; {one.shared[0][:200]}" if one.shared else "")
        for one in matches
    ]
    return ToolResult("\n".join(lines) or "Nothing is nearly the same.", DuplicateReport(matches=matches))


TOOLS: Final = (suggest_internal_links, apply_internal_links, check_duplicate_content)
