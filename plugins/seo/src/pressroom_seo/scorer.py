"""The article scorer that writing tools and the dashboard use."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from pressroom.sdk import PluginContext
from pressroom_content.contract import (
    Article,
    ArticleScorer,
    Score,
    ScoreCheck,
    ScoredArticle,
    ScoreReport,
    SearchSnippet,
    SnippetLine,
)

if TYPE_CHECKING:
    from pressroom_seo.scoring import ScoringArticle, ScoringCheck, ScoringReport, SnippetPreview, World
    from pressroom_seo.scoring.snippet import Line
    from pressroom_seo.stored import ScoringInput

_FIXES = 3
_EVIDENCE = 5


def article_scorer(plugin: PluginContext) -> ArticleScorer:
    """Return the plugin's article scorer."""

    async def report(user_id: str, content_id: str) -> ScoreReport:
        return await report_article(plugin, user_id, content_id)

    return ArticleScorer("seo", score_article, report, partial(scoring_of, plugin))


def score_article(scored: ScoredArticle) -> Score:
    """Score an article from its fields alone, and list the three most effective fixes.

    Checks that need more, such as the account's other articles, are skipped; check_blog_seo runs them for a stored
    article.
    """
    # Loads word lists and parsers on first use.
    from pressroom_seo.scoring import ScoringArticle as Judged  # noqa: PLC0415
    from pressroom_seo.scoring import score  # noqa: PLC0415

    optional: dict[str, Any] = {"featured_image": "featured"} if scored.featured_image else {}
    report = score(
        Judged(
            body=scored.body,
            format="html" if scored.body_format == "html" else "markdown",
            title=scored.title,
            seo_title=scored.meta_title,
            description=scored.meta_description,
            slug=scored.slug,
            language=scored.language,
            keyphrase=scored.keyphrase,
            synonyms=scored.synonyms,
            canonicals=(scored.canonical_url,) if scored.canonical_url else (),
            original_url=scored.canonical_url,
            **optional,
        )
    )
    return _summary(report)


async def scoring_of(plugin: PluginContext, article: Article) -> Callable[[], Score]:
    """Return a function that scores one version of an article, stored or not, with the facts about its surroundings."""
    from pressroom_seo.stored import judged_as, world_of  # noqa: PLC0415

    scoring_input = await judged_as(plugin, article)
    return partial(_rated, scoring_input.scored, await world_of(plugin, scoring_input))


def _rated(article: ScoringArticle, world: World) -> Score:
    from pressroom_seo.scoring import score  # noqa: PLC0415

    return _summary(score(article, world=world))


async def report_article(plugin: PluginContext, user_id: str, content_id: str) -> ScoreReport:
    """Return the full report of a stored article, with checks against the account's others. Raises `NotFound`."""
    from pressroom_seo.scoring import preview_snippet  # noqa: PLC0415
    from pressroom_seo.stored import judged  # noqa: PLC0415

    scoring_input = await judged(plugin, user_id, content_id)
    report = await _judgement(plugin, scoring_input)
    snippet = preview_snippet(
        scoring_input.article.search_title, scoring_input.article.description, scoring_input.article.url
    )
    return ScoreReport(
        score=report.score,
        rating=report.rating,
        areas=tuple((name, group.score) for name, group in report.groups.items()),
        checks=tuple(_check(check) for check in report.checks),
        caps=tuple(f"{gate.message} This caps the score at {gate.cap}." for gate in report.gates),
        snippets=_snippets(snippet),
        warnings=snippet.warnings,
        notes=report.notes,
        language=report.language,
        ruleset=report.ruleset,
        words=report.words,
    )


async def _judgement(plugin: PluginContext, scoring_input: ScoringInput) -> ScoringReport:
    from pressroom_seo.stored import judgement, world_of  # noqa: PLC0415

    return await judgement(
        plugin, scoring_input.scored, await world_of(plugin, scoring_input), scoring_input.stored.user_id
    )


def _summary(report: ScoringReport) -> Score:
    return Score(report.score, tuple(action.fix for action in report.next_actions[:_FIXES]), report.words)


def _check(check: ScoringCheck) -> ScoreCheck:
    wrong = check.status in ("ok", "bad")
    evidence = [f"{piece.place}: {piece.text}" if piece.place else piece.text for piece in check.evidence[:_EVIDENCE]]
    return ScoreCheck(
        id=check.id,
        area=check.group,
        status=check.status.value,
        message=check.message,
        threshold=check.threshold,
        fix=check.fix if wrong else "",
        gain=round(check.gain, 1),
        evidence=tuple(evidence) if wrong else (),
    )


def _snippets(preview: SnippetPreview) -> tuple[SearchSnippet, ...]:
    devices = (("Desktop", preview.desktop), ("Phone", preview.mobile))
    return tuple(
        SearchSnippet(name, _line(snippet.title), _line(snippet.url), _line(snippet.description))
        for name, snippet in devices
    )


def _line(line: Line) -> SnippetLine:
    return SnippetLine(line.text, line.width, line.limit, line.truncated)
