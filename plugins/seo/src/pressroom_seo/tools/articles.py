"""The tool that scores articles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pressroom.sdk import Annotations, Call, Params, PluginContext, ToolResult, mcp_tool
from pressroom_content.contract import Article as StoredArticle
from pressroom_content.contract import content_services, slug_of
from pydantic import Field

from pressroom_seo.tools.article_report import (
    ActionRow,
    GroupRow,
    Part,
    SeoCheckOut,
    SeoReportOut,
    Subject,
    included,
    names,
)
from pressroom_seo.tools.common import ContentId, Phrase, context, exactly_one, short

if TYPE_CHECKING:
    from pressroom_seo.live_pages import TriedLinks
    from pressroom_seo.scoring import ScoringArticle, ScoringCheck, ScoringReport, World

Term = Annotated[str, Field(min_length=1, max_length=200)]
Terms = Annotated[list[Term], Field(max_length=100)]

_EVIDENCE: Final = 3


class ArticleInput(Params):
    """An article that is not stored. Only the body is needed; what is left out is not judged, or counts as missing."""

    body: str = Field(max_length=4_000_000, description="Without the headline.")
    body_format: Literal["markdown", "html"] = "markdown"
    title: str | None = Field(default=None, max_length=500)
    meta_title: str | None = Field(default=None, max_length=500)
    meta_description: str | None = Field(default=None, max_length=2000)
    slug: str | None = Field(default=None, max_length=200)
    url: str | None = Field(default=None, max_length=2048)
    language: str | None = Field(default=None, max_length=35)
    keyphrase: Phrase | None = None
    synonyms: Terms | None = None
    secondary_phrases: Terms | None = None
    canonical_url: str | None = Field(default=None, max_length=2048)
    author: str | None = Field(default=None, max_length=200)
    featured_image: str | None = Field(default=None, max_length=2048)
    featured_alt: str | None = Field(default=None, max_length=2000)
    website_id: str | None = Field(default=None, min_length=1, max_length=64)


class SeoCheckParams(Params):
    """What to judge."""

    content_id: ContentId | None = Field(default=None, description="A stored article.")
    article: ArticleInput | None = Field(default=None, description="Or an unsaved article.")
    keyphrase: Phrase | None = Field(default=None, description="Instead of the article's own.")
    synonyms: Terms | None = Field(default=None, description="Instead of the article's own.")
    profile: Literal["default", "cornerstone", "news", "product"] = Field(
        default="default", description="Kind of text."
    )
    checks: Annotated[list[Term], Field(max_length=100)] | None = Field(
        default=None, description="Ids of checks to run; default: all."
    )
    include: list[str] = Field(default=[], description="Parts to add.")


@mcp_tool(
    name="check_blog_seo",
    title="SEO check of an article",
    description=(
        "Scores a stored or unsaved article for search engines and readers. Use it before publishing; for a live page "
        "use check_page_seo. Returns score, checks with fixes, and next_actions. include adds parts that do not change "
        "the score: images, duplicates (similar texts of the account), links (requested live), voice (brand voice), "
        "snippet (search result)."
    ),
    result=SeoReportOut,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("core", "seo", "writing"),
    choices={"include": names},
    timeout=150,
)
async def check_blog_seo(params: SeoCheckParams, call: Call) -> ToolResult:
    """Return the judgement of an article."""
    from pressroom_seo.live_pages import try_links  # noqa: PLC0415 - word lists and parsers load with the first check
    from pressroom_seo.stored import judgement  # noqa: PLC0415

    exactly_one(content_id=params.content_id, article=params.article)
    plugin, user_id = context(call), call.caller.subject
    prepared = await _check_input(params, plugin, user_id)
    include, subject, world = tuple(dict.fromkeys(params.include)), prepared.subject, prepared.world
    links: TriedLinks | None = None
    if "links" in include:
        links = await try_links(plugin, user_id, subject.article, params.content_id or "article")
        world = replace(world, link_status=links.statuses, canonical_noindex=links.canonical_noindex)
    report = await judgement(
        plugin, prepared.scored, world, user_id, profile=params.profile, checks=tuple(params.checks or ())
    )
    if subject.stored is not None and not params.model_fields_set - {"content_id", "include"}:
        await content_services(plugin).articles.note_score(subject.stored, report.score, report.words)
    parts = await included(subject, include, links)
    return ToolResult("\n".join([*_lines(report), *_part_lines(include, parts)]), _result(report, parts))


@dataclass(frozen=True, slots=True)
class _CheckInput:
    """The input of the check: the version to score, its surroundings, and the article to make parts for."""

    scored: ScoringArticle
    world: World
    subject: Subject


async def _check_input(params: SeoCheckParams, plugin: PluginContext, user_id: str) -> _CheckInput:
    from pressroom_seo.scoring import World  # noqa: PLC0415
    from pressroom_seo.stored import judged, others_of, world_of  # noqa: PLC0415

    stored: StoredArticle | None = None
    if params.article is not None:
        draft, website_id = params.article, params.article.website_id
        scored = article = await _scoring_article(plugin, user_id, draft)
        others = await others_of(plugin, user_id, website_id, excluding="")
        # A stored article with the same title is most likely this article.
        world = World(others=tuple(other for other in others if other.title != article.search_title))
    else:
        scoring_input = await judged(plugin, user_id, params.content_id or "")
        scored, article, world = scoring_input.scored, scoring_input.article, await world_of(plugin, scoring_input)
        stored, website_id = scoring_input.stored, scoring_input.stored.website_id
    if params.keyphrase is not None:
        scored = replace(scored, keyphrase=params.keyphrase)
    if params.synonyms is not None:
        scored = replace(scored, synonyms=tuple(params.synonyms))
    return _CheckInput(scored, world, Subject(plugin, user_id, article, stored, website_id))


async def _scoring_article(plugin: PluginContext, user_id: str, draft: ArticleInput) -> ScoringArticle:
    """Prepare an unsaved article for scoring as if it were stored."""
    from pressroom_seo.scoring import ScoringArticle  # noqa: PLC0415
    from pressroom_seo.stored import authors_of, expected_at, language_of  # noqa: PLC0415

    website = None
    if draft.website_id is not None:
        website = await content_services(plugin).websites.get(user_id, draft.website_id)
    title, canonical, now = draft.title or "", draft.canonical_url or "", datetime.now(UTC)
    slug = draft.slug or slug_of(title)
    return ScoringArticle(
        body=draft.body,
        format=draft.body_format,
        title=title,
        seo_title=draft.meta_title or "",
        description=draft.meta_description or "",
        slug=slug,
        url=draft.url or expected_at(website, slug),
        language=draft.language or language_of(website),
        keyphrase=draft.keyphrase or "",
        synonyms=tuple(draft.synonyms or ()),
        secondary_phrases=tuple(draft.secondary_phrases or ()),
        canonicals=(canonical,) if canonical else (),
        original_url=canonical,
        authors=authors_of(draft.author or "", website),
        published=now,
        modified=now,
        featured_image=draft.featured_image or "",
        featured_image_alt=draft.featured_alt,
    )


def _result(report: ScoringReport, parts: Mapping[str, Part]) -> SeoReportOut:
    values: dict[str, Any] = {
        "score": report.score,
        "rating": report.rating,
        "groups": {name: GroupRow.model_validate(group, from_attributes=True) for name, group in report.groups.items()},
        "checks": [check_row(check) for check in report.checks],
        "next_actions": [
            ActionRow(check=action.check, fix=action.fix, gain=round(action.gain, 1)) for action in report.next_actions
        ],
        "gates": [f"{gate.message} This caps the score at {gate.cap}." for gate in report.gates],
        "notes": list(report.notes),
        "ruleset": report.ruleset,
        "language": report.language,
        "words": report.words,
    }
    return SeoReportOut(**values, **{name: part.data for name, part in parts.items()})


def check_row(check: ScoringCheck) -> SeoCheckOut:
    """Convert a check for the tool result. Good and skipped checks have no evidence."""
    wrong = check.status in ("ok", "bad")
    value: Any = check.value
    return SeoCheckOut(
        id=check.id,
        group=check.group,
        status=check.status.value,
        message=check.message,
        fix=check.fix if wrong else "",
        value=short(value) if isinstance(value, str) else value,
        points=check.points,
        weight=check.weight,
        threshold=check.threshold,
        gain=round(check.gain, 1),
        evidence=[
            short(f"{piece.place}: {piece.text}" if piece.place else piece.text) for piece in check.evidence[:_EVIDENCE]
        ]
        if wrong
        else [],
    )


def _lines(report: ScoringReport) -> Iterator[str]:
    words = "1 word" if report.words == 1 else f"{report.words:,} words"
    yield f"Score {report.score} of 100 ({report.rating}), {words}, language {report.language or '?'}."
    for gate in report.gates:
        yield f"{gate.message} This caps the score at {gate.cap}."
    groups = (f"{name} {group.score}" for name, group in report.groups.items() if group.score is not None)
    yield f"Groups: {', '.join(groups)}."
    if report.next_actions:
        yield "Fix first:"
    for action in report.next_actions:
        yield f"- {action.fix} ({f'+{action.gain:.1f}, ' if action.gain else ''}{action.check})"
    failing = [check for check in report.checks if check.status in ("bad", "ok")]
    if failing:
        yield "Not good:"
    for check in failing:
        yield f"- {check.id}: {check.message}"
    yield from report.notes


def _part_lines(include: Sequence[str], parts: Mapping[str, Part]) -> Iterator[str]:
    for name in include:
        part = parts.get(name)
        heading = name.capitalize()
        if part is None:
            yield f"{heading}: not checked, because of an internal error."
        elif not part.lines:
            yield f"{heading}: nothing to fix."
        else:
            yield f"{heading}:"
            yield from (f"- {line}" for line in part.lines)


TOOLS: Final = (check_blog_seo,)
