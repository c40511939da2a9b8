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

    known: dict[str, Any] = {"featured_image": "featured"} if scored.featured_image else {}
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
            **known,
        )
    )
    return _summary(report)


async def scoring_of(plugin: PluginContext, article: Article) -> Callable[[], Score]:
    """Return a function that scores one version of an article, stored or not, with the facts about its surroundings."""
    from pressroom_seo.stored import judged_as, world_of  # noqa: PLC0415

    one = await judged_as(plugin, article)
    return partial(_rated, one.scored, await world_of(plugin, one))


def _rated(article: ScoringArticle, world: World) -> Score:
    from pressroom_seo.scoring import score  # noqa: PLC0415

    return _summary(score(article, world=world))


async def report_article(plugin: PluginContext, user_id: str, content_id: str) -> ScoreReport:
    """Return the full report of a stored article, with checks against the account's others. Raises `NotFound`."""
    from pressroom_seo.scoring import preview_snippet  # noqa: PLC0415
    from pressroom_seo.stored import judged  # noqa: PLC0415

    one = await judged(plugin, user_id, content_id)
    made = await _judgement(plugin, one)
    snippet = preview_snippet(one.article.search_title, one.article.description, one.article.url)
    return ScoreReport(
        score=made.score,
        rating=made.rating,
        areas=tuple((name, group.score) for name, group in made.groups.items()),
        checks=tuple(_check(check) for check in made.checks),
        caps=tuple(f"{gate.message} This caps the score at {gate.cap}." for gate in made.gates),
        snippets=_snippets(snippet),
        warnings=snippet.warnings,
        notes=made.notes,
        language=made.language,
        ruleset=made.ruleset,
        words=made.words,
    )


async def _judgement(plugin: PluginContext, one: ScoringInput) -> ScoringReport:
    from pressroom_seo.stored import judgement, world_of  # noqa: PLC0415

    return await judgement(plugin, one.scored, await world_of(plugin, one), one.stored.user_id)


def _summary(report: ScoringReport) -> Score:
    return Score(report.score, tuple(action.fix for action in report.next_actions[:_FIXES]), report.words)


def _check(one: ScoringCheck) -> ScoreCheck:
    wrong = one.status in ("ok", "bad")
    seen = [f"{piece.place}: {piece.text}" if piece.place else piece.text for piece in one.evidence[:_EVIDENCE]]
    return ScoreCheck(
        id=one.id,
        area=one.group,
        status=one.status.value,
        message=one.message,
        threshold=one.threshold,
        fix=one.fix if wrong else "",
        gain=round(one.gain, 1),
        evidence=tuple(seen) if wrong else (),
    )


def _snippets(preview: SnippetPreview) -> tuple[SearchSnippet, ...]:
    devices = (("Desktop", preview.desktop), ("Phone", preview.mobile))
    return tuple(
        SearchSnippet(name, _line(shown.title), _line(shown.url), _line(shown.description)) for name, shown in devices
    )


def _line(line: Line) -> SnippetLine:
    return SnippetLine(line.text, line.width, line.limit, line.truncated)
