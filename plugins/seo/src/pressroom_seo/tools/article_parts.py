"""What `check_blog_seo` can include beside the score: what is around an article. No part changes the score."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import structlog
from pressroom.sdk import BackendError, InvalidInput, NotFound, PluginContext
from pressroom_content.contract import Article as StoredArticle
from pressroom_content.contract import ArticleReviewer, article_reviewers, content_services
from pydantic import BaseModel

from pressroom_seo.config import CHECK_LINKS
from pressroom_seo.tools.article_answer import (
    DuplicateRow,
    DuplicatesPart,
    LinksPart,
    SnippetPart,
    VoiceFindingRow,
    VoicePart,
)
from pressroom_seo.tools.common import LinkOut, short

if TYPE_CHECKING:
    from pressroom_seo.linking import TriedLinks
    from pressroom_seo.scoring import ScoringArticle

log = structlog.get_logger()

PARTS: Final = ("images", "duplicates", "links", "voice", "snippet")
"""The parts in the order in which they are reported. `images` is there where a plugin reviews them."""

_MAX_REPORTED: Final = 200
_SHOWN: Final = 40
_SECONDS: Final = 60.0
_SAME_JOB: Final = 600
"""Seconds in which a repeated call gets the job that was begun."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The article whose parts are wanted. `stored` is `None` for one that is not stored, meant for `website_id`."""

    plugin: PluginContext
    user_id: str
    article: ScoringArticle
    stored: StoredArticle | None
    website_id: str | None


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the answer: as data, and in words."""

    data: BaseModel | Mapping[str, Any]
    lines: Sequence[str]


def names(plugin: PluginContext) -> Iterable[str]:
    """Return the parts that this server has: those of `PARTS`, then those of other plugins."""
    offered = reviewers(plugin)
    own = [name for name in PARTS if name != "images" or name in offered]
    return [*own, *(name for name in offered if name not in PARTS)]


def reviewers(plugin: PluginContext) -> dict[str, ArticleReviewer]:
    """Return what other plugins review articles with, by name."""
    return {one.name: one for _, one in article_reviewers(plugin)}


async def included(subject: Subject, wanted: Sequence[str], links: TriedLinks | None) -> dict[str, Part]:
    """Return the parts that were asked for, by name. A part that fails inside is left out."""
    offered = reviewers(subject.plugin)
    makers = [_maker(name, subject, offered.get(name), links) for name in wanted]
    made = await asyncio.gather(*(_made(name, maker) for name, maker in zip(wanted, makers, strict=True)))
    return {name: part for name, part in zip(wanted, made, strict=True) if part is not None}


def _maker(
    name: str, subject: Subject, reviewer: ArticleReviewer | None, links: TriedLinks | None
) -> Callable[[], Awaitable[Part]]:
    if name in ("voice", "snippet"):
        make = _voice if name == "voice" else _snippet
        return lambda: make(subject)
    if name == "links" and links is not None:
        tried = links
        return lambda: _links(subject, tried)
    stored = subject.stored
    if stored is None:
        raise InvalidInput(
            "include", f"{name} needs a stored article: store it with create_content, then call this with content_id"
        )
    return lambda: _duplicates(subject, stored) if reviewer is None else _reviewed(reviewer, stored)


async def _made(name: str, make: Callable[[], Awaitable[Part]]) -> Part | None:
    try:
        async with asyncio.timeout(_SECONDS):
            return await make()
    except (InvalidInput, NotFound, BackendError):
        raise
    except TimeoutError:
        raise InvalidInput("include", f"{name} took over {_SECONDS:.0f} seconds; leave it out, or repeat") from None
    except Exception:
        # It may belong to another plugin, for whose fault nobody loses the rest of the answer.
        log.exception("a part of an article's check failed", part=name)
        return None


async def _reviewed(reviewer: ArticleReviewer, stored: StoredArticle) -> Part:
    found = await reviewer.review(stored)
    return Part(dict(found.data), found.lines)


async def _duplicates(subject: Subject, stored: StoredArticle) -> Part:
    found = await content_services(subject.plugin).text_checks.duplicates(subject.user_id, stored.id)
    rows = [DuplicateRow(**{**asdict(one), "shared": list(one.shared)}) for one in found]
    lines = [
        f"{one.similarity:.0%} the same: {one.title} ({one.content_id or one.url})"
        + (f"; {short(one.shared[0])}" if one.shared else "")
        for one in rows
    ]
    return Part(DuplicatesPart(matches=rows), lines)


async def _links(subject: Subject, tried: TriedLinks) -> Part:
    rows = [LinkOut.of(one) for one in tried.reports or () if one.problems]
    rows = [*_canonical(subject.article, tried), *rows][:_MAX_REPORTED]
    job_id = None
    if tried.reports is None:
        job_id = await _begin(subject, tried.total)
    data = LinksPart(links=rows, checked=len(tried.reports or ()), job_id=job_id)
    lines = [one.line() for one in rows]
    if job_id:
        lines.append(f"{tried.total} links are being tried in the background; get_job {job_id} returns the result.")
    return Part(data, lines)


def _canonical(article: ScoringArticle, tried: TriedLinks) -> list[LinkOut]:
    """Return what is wrong with the canonical URL, which is not among the links of the body."""
    from pressroom_seo.linking import is_broken  # noqa: PLC0415

    url = next((one.strip() for one in article.canonicals if one.strip()), "")
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
    """Start trying all links of an article (`content_id`) or a website (`website_id`), and return the job's id."""
    key = f"{target}:{int(time.time() // _SAME_JOB)}"
    return await plugin.services.jobs.enqueue(CHECK_LINKS, {name: target}, subject=user_id, key=key)


async def _voice(subject: Subject) -> Part:
    checks, article = content_services(subject.plugin).text_checks, subject.article
    if subject.stored is not None:
        found = await checks.voice_findings(subject.user_id, None, content_id=subject.stored.id)
    else:
        found = await checks.voice_findings(
            subject.user_id,
            subject.website_id,
            title=article.title,
            body=article.body,
            body_format=article.format,
            language=article.language,
        )
    rows = [VoiceFindingRow.model_validate(one, from_attributes=True) for one in found.findings]
    lines = [
        f"{one.severity}: {one.message}{f' (line {one.line}: …{one.context}…)' if one.line else ''}. {one.fix}"
        for one in rows[:_SHOWN]
    ]
    if len(rows) > _SHOWN:
        lines.append(f"and {len(rows) - _SHOWN} more")
    if not found.version:
        lines.append("The article's website has no brand voice, so only sentences and reading ease were checked.")
    return Part(VoicePart(passed=found.passed, version=found.version, findings=rows), lines)


async def _snippet(subject: Subject) -> Part:
    from pressroom_seo.scoring import preview_snippet  # noqa: PLC0415 - the font's widths load with the first preview

    one = subject.article
    preview = preview_snippet(one.search_title, one.description, one.url)
    lines = []
    for device, shown in (("Desktop", preview.desktop), ("Mobile", preview.mobile)):
        lines.append(f"{device}: {shown.title.text}  [{shown.title.width} of {shown.title.limit} px]")
        lines += [f"  {shown.url.text}", f"  {shown.description.text}"]
    return Part(SnippetPart.model_validate(preview.to_dict()), [*lines, *preview.warnings])
