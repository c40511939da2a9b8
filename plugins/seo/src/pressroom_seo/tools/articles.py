"""Tools that judge articles: the score, and how a search result will look."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pressroom.sdk import Annotations, Call, InvalidInput, Params, ToolResult, mcp_tool
from pressroom_content.contract import content_services, slug_of
from pydantic import BaseModel, Field

from pressroom_seo.tools.common import ContentId, Phrase, context, exactly_one, short

if TYPE_CHECKING:
    from pressroom_content.contract import Article as StoredArticle

    from pressroom_seo.scoring import ScoringArticle, ScoringCheck, ScoringReport, World

Term = Annotated[str, Field(min_length=1, max_length=200)]
Terms = Annotated[list[Term], Field(max_length=100)]

_MAX_LINE_LENGTH: Final = 500
_EVIDENCE: Final = 3
_LINK_SECONDS: Final = 30.0


class ArticleInput(Params):
    """An article that is not stored. Only the body is needed; what is left out is not judged, or counts as missing."""

    body: str = Field(max_length=4_000_000, description="The text without the headline, in body_format.")
    body_format: Literal["markdown", "html"] = Field(default="markdown", description="How body is written.")
    title: str = Field(default="", max_length=_MAX_LINE_LENGTH, description="The headline.")
    meta_title: str = Field(default="", max_length=_MAX_LINE_LENGTH, description="The title in search results.")
    meta_description: str = Field(default="", max_length=2000, description="The text in search results.")
    slug: str = Field(default="", max_length=200, description="The end of its URL; left out: made from the title.")
    url: str = Field(default="", max_length=2048, description="Where it is, or will be.")
    language: str = Field(default="", max_length=35, description="Such as en or pt-BR; left out: found in the text.")
    keyphrase: str = Field(default="", max_length=200, description="What it is to be found by.")
    synonyms: Terms = Field(default=[], description="Other words for the keyphrase.")
    secondary_phrases: Terms = Field(default=[], description="Other phrases that it is to be found by.")
    canonical_url: str = Field(default="", max_length=2048, description="Where the original is, if elsewhere.")
    author: str = Field(default="", max_length=200, description="Whom the text is by.")
    featured_image: str = Field(default="", max_length=2048, description="The URL of the featured image.")
    featured_alt: str | None = Field(default=None, max_length=2000, description="Its alternative text.")


class SeoCheckParams(Params):
    """What to judge, and by what."""

    content_id: ContentId | None = Field(default=None, description="A stored article; or give article.")
    article: ArticleInput | None = Field(default=None, description="An article that is not stored; or give content_id.")
    keyphrase: Phrase | None = Field(default=None, description="Replaces the article's own keyphrase.")
    synonyms: Terms | None = Field(default=None, description="Replaces the article's own synonyms.")
    profile: Literal["default", "cornerstone", "news", "product"] = Field(
        default="default", description="What kind of text it is: thresholds and weights differ."
    )
    checks: Annotated[list[Term], Field(max_length=100)] = Field(
        default=[], description="Ids of the only checks to run, from an earlier answer; empty: all."
    )
    check_links: bool = Field(default=False, description="Whether the links are tried, which takes some seconds.")


class SeoCheckOut(BaseModel):
    """One check."""

    id: str
    group: str
    status: Literal["good", "ok", "bad", "skipped"]
    message: str = Field(description="What was seen, or why it was skipped.")
    fix: str = Field(description="What to do; empty where nothing is to be done.")
    value: str | float | bool | None = Field(description="What was measured.")
    points: float | None = Field(description="1, 0.5 or 0; null where it was skipped.")
    weight: int = Field(description="How much it counts.")
    threshold: str = Field(description="What is good.")
    gain: float = Field(description="By how many points the score rises when this check alone becomes good.")
    evidence: list[str] = Field(description="The places that it is about; of checks that are not good.")


class GroupRow(BaseModel):
    """A group of checks together."""

    score: int | None = Field(description="From 0 to 100; null where nothing in it applies.")
    good: int
    ok: int
    bad: int
    skipped: int


class ActionRow(BaseModel):
    """What to do next."""

    check: str
    fix: str
    gain: float = Field(description="By how many points the score rises.")


class SeoReportOut(BaseModel):
    """The answer of `check_blog_seo`."""

    score: int = Field(description="From 0 to 100.")
    rating: Literal["good", "ok", "poor"]
    groups: dict[str, GroupRow]
    checks: list[SeoCheckOut]
    next_actions: list[ActionRow] = Field(description="What brings most, best first.")
    gates: list[str] = Field(description="Faults that hold the score down, whatever else is good.")
    notes: list[str]
    ruleset: str = Field(description="The rules and their version; scores of different ones do not compare.")
    language: str
    words: int


@mcp_tool(
    name="check_blog_seo",
    title="SEO check of an article",
    description=(
        "Scores an article for search engines and readers against about 55 explained checks: keyphrase, title and "
        "description, structure, readability, links, images and more. Give content_id of a stored article, which is "
        "compared with the account's other articles too, or article with the fields themselves. Use it before "
        "publishing and after larger changes. Returns score, rating, groups, every check with what was seen, and "
        "next_actions: what would raise the score most. check_links tries the links and the canonical URL, which "
        "takes a few seconds. Nothing is changed."
    ),
    result=SeoReportOut,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("seo",),
    timeout=90,
)
async def check_blog_seo(params: SeoCheckParams, call: Call) -> ToolResult:
    """Return the judgement of an article."""
    from pressroom_seo.scoring import score  # noqa: PLC0415 - word lists and parsers load with the first check

    exactly_one(content_id=params.content_id, article=params.article)
    article, world, stored = await _wanted(params, call)
    judge = partial(score, article, params.profile, world=world, checks=params.checks)
    run, owner = context(call).services.workers.run, call.caller.subject
    report = await run(judge, owner=owner, what="the article", seconds=60)
    if stored is not None and not params.model_fields_set - {"content_id"}:
        await content_services(context(call)).articles.note_score(stored, report.score, report.words)
    return ToolResult("\n".join(_lines(report)), _answer(report))


async def _wanted(params: SeoCheckParams, call: Call) -> tuple[ScoringArticle, World, StoredArticle | None]:
    """Return what to judge, what is known around it, and the stored article, if it is one."""
    from dataclasses import replace  # noqa: PLC0415

    from pressroom_seo.linking import canonical_page, statuses  # noqa: PLC0415
    from pressroom_seo.scoring import World  # noqa: PLC0415
    from pressroom_seo.stored import judged, others_of, world_of  # noqa: PLC0415

    stored: StoredArticle | None = None
    if params.article is not None:
        article = _given(params.article)
        others = await others_of(context(call), call.caller.subject, None, but="")
        # One with the same title is most likely the same article, stored before.
        world = World(others=tuple(one for one in others if one.title != article.search_title))
    else:
        one = await judged(context(call), call.caller.subject, params.content_id or "")
        article, world, stored = one.article, await world_of(context(call), one), one.stored
    if params.keyphrase is not None:
        article = replace(article, keyphrase=params.keyphrase)
    if params.synonyms is not None:
        article = replace(article, synonyms=tuple(params.synonyms))
    if params.check_links:
        fetcher = context(call).services.fetcher
        found, (canonical, noindex) = await asyncio.gather(
            statuses(fetcher, article, _LINK_SECONDS), canonical_page(fetcher, article, _LINK_SECONDS)
        )
        world = replace(world, link_status=canonical | found, canonical_noindex=noindex)
    return article, world, stored


def _given(given: ArticleInput) -> ScoringArticle:
    from pressroom_seo.scoring import Author, ScoringArticle  # noqa: PLC0415

    return ScoringArticle(
        body=given.body,
        format=given.body_format,
        title=given.title,
        seo_title=given.meta_title,
        description=given.meta_description,
        slug=given.slug or slug_of(given.title),
        url=given.url,
        language=given.language,
        keyphrase=given.keyphrase,
        synonyms=tuple(given.synonyms),
        secondary_phrases=tuple(given.secondary_phrases),
        canonicals=(given.canonical_url,) if given.canonical_url else (),
        original_url=given.canonical_url,
        authors=(Author(given.author),) if given.author else (),
        featured_image=given.featured_image,
        featured_image_alt=given.featured_alt,
    )


def _answer(report: ScoringReport) -> SeoReportOut:
    return SeoReportOut(
        score=report.score,
        rating=report.rating,
        groups={name: GroupRow.model_validate(group, from_attributes=True) for name, group in report.groups.items()},
        checks=[check_row(one) for one in report.checks],
        next_actions=[ActionRow(check=one.check, fix=one.fix, gain=round(one.gain, 1)) for one in report.next_actions],
        gates=[one.message for one in report.gates],
        notes=list(report.notes),
        ruleset=report.ruleset,
        language=report.language,
        words=report.words,
    )


def check_row(one: ScoringCheck) -> SeoCheckOut:
    """Return a check as tools show it: what is good needs no evidence."""
    wrong = one.status in ("ok", "bad")
    value: Any = one.value
    return SeoCheckOut(
        id=one.id,
        group=one.group,
        status=one.status.value,
        message=one.message,
        fix=one.fix if wrong else "",
        value=short(value) if isinstance(value, str) else value,
        points=one.points,
        weight=one.weight,
        threshold=one.threshold,
        gain=round(one.gain, 1),
        evidence=[short(f"{seen.place}: {seen.text}" if seen.place else seen.text) for seen in one.evidence[:_EVIDENCE]]
        if wrong
        else [],
    )


def _lines(report: ScoringReport) -> Iterator[str]:
    yield f"Score {report.score} of 100 ({report.rating}), {report.words:,} words, language {report.language or '?'}."
    for gate in report.gates:
        yield f"The score is held down to {gate.cap}: {gate.message}"
    groups = (f"{name} {group.score}" for name, group in report.groups.items() if group.score is not None)
    yield f"Groups: {', '.join(groups)}."
    if report.next_actions:
        yield "What would raise it most:"
    for action in report.next_actions:
        yield f"- {action.fix} (+{action.gain:.1f}, {action.check})"
    wrong = [one for one in report.checks if one.status in ("bad", "ok")]
    if wrong:
        yield "Not good:"
    for one in wrong:
        yield f"- {one.id}: {one.message}"
    yield from report.notes


class SnippetParams(Params):
    """What to show."""

    content_id: ContentId | None = Field(default=None, description="A stored article whose fields are used.")
    title: str | None = Field(default=None, max_length=2000, description="Replaces the article's title.")
    description: str | None = Field(default=None, max_length=5000, description="Replaces its description.")
    url: str | None = Field(default=None, max_length=2048, description="Replaces its URL.")


class LineRow(BaseModel):
    """A text as it is shown."""

    text: str = Field(description="With an ellipsis at its end where it is cut.")
    width: int = Field(description="The width of the whole text in pixels.")
    limit: int = Field(description="How many pixels there are.")
    truncated: bool
    cut: str = Field(description="What is not shown.")


class PreviewRow(BaseModel):
    """A search result on one kind of device."""

    title: LineRow
    url: LineRow
    description: LineRow


class SnippetAnswer(BaseModel):
    """The answer of `preview_search_snippet`."""

    desktop: PreviewRow
    mobile: PreviewRow
    warnings: list[str]


@mcp_tool(
    name="preview_search_snippet",
    title="Preview a search result",
    description=(
        "Shows how title, URL and description will look in search results on desktops and phones: their width in "
        "pixels, and where they are cut. Give content_id, or title and description; what is given besides content_id "
        "takes the place of the stored field, so that variants can be tried before anything is saved. Returns desktop, "
        "mobile and warnings."
    ),
    result=SnippetAnswer,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("seo",),
)
async def preview_search_snippet(params: SnippetParams, call: Call) -> ToolResult:
    """Return the preview of a search result."""
    from pressroom_seo.scoring import preview_snippet  # noqa: PLC0415
    from pressroom_seo.stored import judged  # noqa: PLC0415

    title, description, url = "", "", ""
    if params.content_id is not None:
        article = (await judged(context(call), call.caller.subject, params.content_id)).article
        title, description, url = article.search_title, article.description, article.url
    elif params.title is None and params.description is None:
        raise InvalidInput("title", "give content_id, or the title and the description to show")
    title = title if params.title is None else params.title
    description = description if params.description is None else params.description
    preview = preview_snippet(title, description, url if params.url is None else params.url)
    lines = []
    for device, shown in (("Desktop", preview.desktop), ("Mobile", preview.mobile)):
        lines += [f"{device}:", f"  {shown.title.text}  [{shown.title.width} of {shown.title.limit} px]"]
        lines += [f"  {shown.url.text}", f"  {shown.description.text}"]
    return ToolResult("\n".join([*lines, *preview.warnings]), SnippetAnswer.model_validate(preview.to_dict()))


TOOLS: Final = (check_blog_seo, preview_search_snippet)
