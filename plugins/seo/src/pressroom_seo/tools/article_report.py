"""The result of `check_blog_seo`: the score with every check, and the requested parts.

Parts add information about an article and never change the score.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import structlog
from pressroom.sdk import BackendError, InvalidInput, NotFound, PluginContext, PluginError
from pressroom_content.contract import Article as StoredArticle
from pressroom_content.contract import ArticleReviewer, article_reviewers, content_services
from pydantic import BaseModel, ConfigDict, Field

from pressroom_seo.config import CHECK_LINKS
from pressroom_seo.tools.common import LinkOut, short

if TYPE_CHECKING:
    from pressroom_seo.live_pages import TriedLinks
    from pressroom_seo.scoring import ScoringArticle

log = structlog.get_logger()
PARTS: Final = ("images", "duplicates", "links", "voice", "snippet")
"""The parts in report order. `images` is only available if a plugin reviews images."""

_MAX_REPORTED: Final = 200
_MAX_FINDINGS: Final = 40
_SECONDS: Final = 60.0
_MARGIN: Final = 0.5
"""Seconds by which another plugin's reviewer times out earlier, so that the timeout counts as that plugin's fault."""

_SAME_JOB: Final = 600
"""Length in seconds of the time slot in which repeated calls share a job."""


class SeoCheckOut(BaseModel):
    """One check."""

    id: str
    group: str
    status: Literal["good", "ok", "bad", "skipped"]
    message: str = Field(description="The finding, or why it was skipped.")
    fix: str = Field(description="What to do; empty if nothing.")
    value: str | float | bool | None = Field(description="What was measured.")
    points: float | None = Field(description="1, 0.5 or 0; null if it was skipped.")
    weight: int = Field(description="How much it counts; 0: it is reported, but does not count.")
    threshold: str = Field(description="What is good.")
    gain: float = Field(description="By how many points the score rises when this check alone becomes good.")
    evidence: list[str] = Field(description="The places that it is about; of checks that are not good.")


class GroupRow(BaseModel):
    """A group of checks together."""

    score: int | None = Field(description="From 0 to 100; null if nothing in it applies.")
    good: int
    ok: int
    bad: int
    skipped: int


class ActionRow(BaseModel):
    """What to do next."""

    check: str
    fix: str
    gain: float = Field(description="Points that the score would gain.")


class DuplicateRow(BaseModel):
    """A text of the account that is similar to the article, or has its keyphrase."""

    content_id: str = Field(description="Empty for a page that was not written here.")
    url: str = Field(description="Where it is published; may be empty.")
    title: str
    similarity: float = Field(description="Share of the texts that is the same, from 0 to 1.")
    shared: list[str] = Field(description="Passages that both have, and the keyphrase if both have the same.")
    exact: bool = Field(description="Whether the texts were compared word by word; false: an estimate for a page.")


class DuplicatesPart(BaseModel):
    """Texts of the account that are nearly the same, or compete for the keyphrase."""

    matches: list[DuplicateRow] = Field(description="The most alike first.")


class LinksPart(BaseModel):
    """Where the article's links lead."""

    links: list[LinkOut] = Field(description="Links with a problem, broken ones first; at most 200.")
    checked: int = Field(description="How many links were tried; 0 until a job is done.")
    job_id: str | None = Field(description="For get_job, if there are too many links to wait for.")


class VoiceFindingRow(BaseModel):
    """Something that breaks the brand voice or misses a target."""

    rule: str = Field(description="banned_term, glossary, spelling, sentence_length or reading_ease.")
    severity: Literal["error", "warning"] = Field(description="error: breaks the voice; warning: misses a target.")
    message: str
    fix: str
    found: str = Field(description="The text in question; empty for the whole text.")
    context: str = Field(description="The same with some words around it.")
    position: int | None = Field(description="In the plain text, in characters from 0.")
    line: int | None = Field(description="In the plain text, from 1.")


class VoicePart(BaseModel):
    """How well the article follows its website's brand voice. Rules only; tone is not judged."""

    passed: bool = Field(description="Whether the text follows the voice; warnings do not count.")
    version: int = Field(description="Version of the voice; 0: none yet.")
    findings: list[VoiceFindingRow] = Field(description="At most 50 for each rule.")


class SnippetLineRow(BaseModel):
    """A text as it is shown."""

    text: str = Field(description="With an ellipsis at its end if it is cut.")
    width: int = Field(description="Of the whole text, in pixels.")
    limit: int = Field(description="In pixels.")
    truncated: bool
    cut: str = Field(description="What is not shown.")


class PreviewRow(BaseModel):
    """A search result on one kind of device."""

    title: SnippetLineRow
    url: SnippetLineRow
    description: SnippetLineRow


class SnippetPart(BaseModel):
    """How a search result will look."""

    desktop: PreviewRow
    mobile: PreviewRow
    warnings: list[str]


class SeoReportOut(BaseModel):
    """The result of `check_blog_seo`. A part that another plugin adds is a member of its own."""

    model_config = ConfigDict(extra="allow")

    score: int = Field(description="From 0 to 100.")
    rating: Literal["good", "ok", "poor"]
    groups: dict[str, GroupRow]
    checks: list[SeoCheckOut]
    next_actions: list[ActionRow] = Field(description="What would raise the score most, best first.")
    gates: list[str] = Field(description="Faults that cap the score, whatever else is good.")
    notes: list[str]
    ruleset: str = Field(description="The rules and their version; scores of different ones do not compare.")
    language: str
    words: int
    images: dict[str, Any] | None = Field(
        default=None, description="images (each with what is known of it) and issues with a fix, if included."
    )
    duplicates: DuplicatesPart | None = Field(default=None, description="If included.")
    links: LinksPart | None = Field(default=None, description="If included.")
    voice: VoicePart | None = Field(default=None, description="If included.")
    snippet: SnippetPart | None = Field(default=None, description="If included.")


@dataclass(frozen=True, slots=True)
class Subject:
    """The article to make parts for. `stored` is `None` for an unsaved article; `website_id` is its website."""

    plugin: PluginContext
    user_id: str
    article: ScoringArticle
    stored: StoredArticle | None
    website_id: str | None


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the result, as data and as lines of text."""

    data: BaseModel | Mapping[str, Any]
    lines: Sequence[str]


def names(plugin: PluginContext) -> Iterable[str]:
    """Return the names of the available parts: those in `PARTS`, then those of other plugins."""
    offered = reviewers(plugin)
    standard = [name for name in PARTS if name != "images" or name in offered]
    return [*standard, *(name for name in offered if name not in PARTS)]


def reviewers(plugin: PluginContext) -> dict[str, ArticleReviewer]:
    """Return the article reviewers of other plugins, by name."""
    return {reviewer.name: reviewer for _, reviewer in article_reviewers(plugin)}


async def included(subject: Subject, requested: Sequence[str], links: TriedLinks | None) -> dict[str, Part]:
    """Return the requested parts by name. A part that fails with an internal error is omitted."""
    offered = reviewers(subject.plugin)
    makers = [_maker(name, subject, offered.get(name), links) for name in requested]
    parts = await asyncio.gather(*(_part(name, maker) for name, maker in zip(requested, makers, strict=True)))
    return {name: part for name, part in zip(requested, parts, strict=True) if part is not None}


def _maker(
    name: str, subject: Subject, reviewer: ArticleReviewer | None, links: TriedLinks | None
) -> Callable[[], Awaitable[Part]]:
    if name in ("voice", "snippet"):
        maker = _voice if name == "voice" else _snippet
        return lambda: maker(subject)
    if name == "links" and links is not None:
        tried = links
        return lambda: _links(subject, tried)
    stored = subject.stored
    if stored is None:
        raise InvalidInput(
            "include", f"{name} needs a stored article: store it with create_content, then call this with content_id"
        )
    return lambda: _duplicates(subject, stored) if reviewer is None else _reviewed(subject.plugin, reviewer, stored)


async def _part(name: str, maker: Callable[[], Awaitable[Part]]) -> Part | None:
    try:
        async with asyncio.timeout(_SECONDS):
            return await maker()
    except (InvalidInput, NotFound, BackendError):
        raise
    except TimeoutError:
        raise InvalidInput("include", f"{name} took over {_SECONDS:.0f} seconds; leave it out, or repeat") from None
    except Exception:
        # The fault may be another plugin's; do not fail the whole result for it.
        log.exception("a part of an article's check failed", part=name)
        return None


async def _reviewed(plugin: PluginContext, reviewer: ArticleReviewer, stored: StoredArticle) -> Part:
    operation, seconds = f"reviewer {reviewer.name}", _SECONDS - _MARGIN
    try:
        with plugin.extensions.calling(operation, reviewer, passes=(TimeoutError,), seconds=seconds):
            review = await reviewer.review(stored)
    except PluginError as error:
        if isinstance(error.__cause__, TimeoutError):
            raise error.__cause__ from None
        raise
    return Part(dict(review.data), review.lines)


async def _duplicates(subject: Subject, stored: StoredArticle) -> Part:
    duplicates = await content_services(subject.plugin).text_checks.duplicates(subject.user_id, stored.id)
    rows = [DuplicateRow(**{**asdict(duplicate), "shared": list(duplicate.shared)}) for duplicate in duplicates]
    lines = [
        f"{row.similarity:.0%} the same: {row.title} ({row.content_id or row.url})"
        + (f"; {short(row.shared[0])}" if row.shared else "")
        for row in rows
    ]
    return Part(DuplicatesPart(matches=rows), lines)


async def _links(subject: Subject, tried: TriedLinks) -> Part:
    rows = [LinkOut.of(report) for report in tried.reports or () if report.problems]
    rows = [*_canonical(subject.article, tried), *rows][:_MAX_REPORTED]
    job_id = None
    if tried.reports is None:
        job_id = await _begin(subject, tried.total)
    data = LinksPart(links=rows, checked=len(tried.reports or ()), job_id=job_id)
    lines = [row.line() for row in rows]
    if job_id:
        lines.append(f"{tried.total} links are being tried in the background; get_job {job_id} returns the result.")
    return Part(data, lines)


def _canonical(article: ScoringArticle, tried: TriedLinks) -> list[LinkOut]:
    """Return the problems of the canonical URL, which is not among the links of the body."""
    from pressroom_seo.live_pages import is_broken  # noqa: PLC0415

    url = next((canonical.strip() for canonical in article.canonicals if canonical.strip()), "")
    status = tried.statuses.get(url)
    if status is None:
        return []
    problems = ["broken"] if is_broken(status) else ["redirected"] if status.redirected_to else []
    problems += ["noindex"] if tried.canonical_noindex else []
    row = LinkOut(
        url=url,
        status=status.status,
        location=status.redirected_to,
        found_in=["canonical_url"],
        problems=problems,
    )
    return [row] if problems else []


async def _begin(subject: Subject, total: int) -> str:
    if subject.stored is None:
        raise InvalidInput(
            "include",
            f"links: the article has {total} links, too many to wait for; store it with create_content, then call this "
            "with content_id",
        )
    return await begin_link_job(subject.plugin, subject.user_id, "content_id", subject.stored.id)


async def begin_link_job(plugin: PluginContext, user_id: str, name: str, target: str) -> str:
    """Enqueue a job that checks all links of an article (`content_id`) or a website (`website_id`). Returns its ID."""
    key = f"{target}:{int(time.time() // _SAME_JOB)}"
    return await plugin.services.jobs.enqueue(CHECK_LINKS, {name: target}, subject=user_id, key=key)


async def _voice(subject: Subject) -> Part:
    checks, article = content_services(subject.plugin).text_checks, subject.article
    if subject.stored is not None:
        result = await checks.voice_findings(subject.user_id, None, content_id=subject.stored.id)
    else:
        result = await checks.voice_findings(
            subject.user_id,
            subject.website_id,
            title=article.title,
            body=article.body,
            body_format=article.format,
            language=article.language,
        )
    rows = [VoiceFindingRow.model_validate(finding, from_attributes=True) for finding in result.findings]
    lines = [
        f"{row.severity}: {row.message}{f' (line {row.line}: …{row.context}…)' if row.line else ''}. {row.fix}"
        for row in rows[:_MAX_FINDINGS]
    ]
    if len(rows) > _MAX_FINDINGS:
        lines.append(f"and {len(rows) - _MAX_FINDINGS} more")
    if not result.version:
        lines.append("The article's website has no brand voice, so only sentences and reading ease were checked.")
    return Part(VoicePart(passed=result.passed, version=result.version, findings=rows), lines)


async def _snippet(subject: Subject) -> Part:
    from pressroom_seo.scoring import preview_snippet  # noqa: PLC0415 - the font's widths load with the first preview

    article = subject.article
    preview = preview_snippet(article.search_title, article.description, article.url)
    lines = []
    for device, snippet in (("Desktop", preview.desktop), ("Mobile", preview.mobile)):
        lines.append(f"{device}: {snippet.title.text}  [{snippet.title.width} of {snippet.title.limit} px]")
        lines += [f"  {snippet.url.text}", f"  {snippet.description.text}"]
    return Part(SnippetPart.model_validate(preview.to_dict()), [*lines, *preview.warnings])
