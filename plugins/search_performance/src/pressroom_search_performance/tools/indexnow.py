"""Telling search engines about changes."""

from __future__ import annotations

from typing import Annotated, Final

from pressroom.sdk import Annotations, Call, InvalidInput, Params, ToolResult, mcp_tool
from pressroom_content.contract import content_services
from pydantic import BaseModel, Field

from pressroom_search_performance.host import plugin_of, website_of
from pressroom_search_performance.indexnow.submitting import MAX_URLS, submit
from pressroom_search_performance.tools.common import WebsiteId


class IndexNowParams(Params):
    """What changed."""

    website_id: WebsiteId
    urls: tuple[Annotated[str, Field(min_length=8, max_length=2048)], ...] = Field(
        default=(),
        max_length=MAX_URLS,
        strict=False,
        description="Full URLs of the website that are new, changed or gone.",
    )
    content_id: str | None = Field(
        default=None, min_length=1, max_length=64, description="An article whose URL on the website is submitted."
    )


class IndexNowResult(BaseModel):
    """The answer of `submit_to_indexnow`."""

    submitted: int
    http_status: int = Field(description="200: taken. 202: taken, and the key is still being checked.")
    key_url: str = Field(description="Where the website's key lies.")


@mcp_tool(
    name="submit_to_indexnow",
    title="Submit to IndexNow",
    description=(
        "Tells the search engines of IndexNow, such as Bing, Yandex, Seznam and Naver, but not Google, about new, "
        "changed or removed URLs of a website. Use it after publishing or taking down. Give urls or content_id. "
        "Sites on this server have their key already; for another one the first call says which key file to put where. "
        "Returns how many were taken. Submitting does not guarantee indexing. Safe to repeat."
    ),
    result=IndexNowResult,
    annotations=Annotations(idempotent=True, open_world=True),
    toolsets=("publishing",),
    timeout=70,
)
async def submit_to_indexnow(params: IndexNowParams, call: Call) -> ToolResult:
    """Submit URLs."""
    plugin = plugin_of(call)
    website = await website_of(call, params.website_id)
    urls = list(params.urls)
    if params.content_id is not None:
        content, user_id = content_services(plugin), call.caller.subject
        article = await content.articles.get(user_id, params.content_id)
        posts = await content.publications.of_article(user_id, article.id)
        found = next((post.url for post in posts if post.website_id == website.id and post.url), None)
        if found is None:
            raise InvalidInput("content_id", "the article was never published on this website")
        urls.append(found)
    if not urls:
        raise InvalidInput("urls", "give URLs, or the content_id of an article")
    done = await submit(plugin, website, urls)
    result = IndexNowResult(submitted=done.count, http_status=done.status, key_url=done.key_url)
    return ToolResult(f"{done.count} URLs were submitted (HTTP {done.status}).", result)


TOOLS: Final = (submit_to_indexnow,)
