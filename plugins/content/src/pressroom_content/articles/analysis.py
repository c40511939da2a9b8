"""What is worked out from an article's text before it is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import structlog
from pressroom.sdk import (
    BackendError,
    CallError,
    InvalidInput,
    PluginContext,
    PluginError,
    PressroomError,
    calling_in_worker,
)

from pressroom_content.articles.fields import Draft
from pressroom_content.config import ContentConfig
from pressroom_content.contract import ArticleScorer, Score, ScoredArticle, article_scorers
from pressroom_content.language import count_words, run_with_languages
from pressroom_content.records import Article
from pressroom_content.rendering.from_html import text_of
from pressroom_content.rendering.sanitising import render
from pressroom_content.text_index.corpus import Fingerprint, fingerprint_of

log = structlog.get_logger()

_SECONDS: Final = 40.0
"""How long it may take; an honest article of two megabytes takes a quarter of it."""

_SCORE_SECONDS: Final = 25.0
"""How long the scorer of it may take."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """The number of words, what makes the article findable, and its score where something on this server scores."""

    word_count: int
    fingerprint: Fingerprint
    score: Score | None


async def analyse(plugin: PluginContext[ContentConfig], article: Article) -> Analysis:
    """Return what the text of an article comes to, worked out in worker processes. It need not be stored yet.

    Raises:
        InvalidInput: the body is too large, nested too deep, or too intricate to be rendered in time.
    """
    draft, owner = Draft.of(article), article.user_id
    check_size(plugin, draft.body)
    scorer, workers = scorer_of(plugin), plugin.services.workers
    options: dict[str, Any] = {"owner": owner, "what": "the article", "seconds": _SECONDS}
    if scorer is not None and scorer.rate is None:
        known = _TextScorer(_owner_of(plugin, scorer), scorer.name, scorer.score)
        try:
            return await run_with_languages(workers, _analysed, draft, known, **options)
        except CallError as error:
            if not isinstance(error.__cause__, PluginError):
                raise
            # Code of a plugin took the process along; what somebody has written must not be lost for its sake.
            return await run_with_languages(workers, _analysed, draft, None, **options)
    analysing = run_with_languages(workers, _analysed, draft, None, **options)
    if scorer is None:
        return await analysing
    # Meanwhile what is known around the article can be read.
    rating = asyncio.create_task(rated(plugin, scorer, article), name="rate an article")
    try:
        found = await analysing
    except BaseException:
        rating.cancel()
        await asyncio.wait({rating})
        raise
    return _with_score(found, await rating)


def check_size(plugin: PluginContext[ContentConfig], body: str) -> None:
    """Refuse a body that is larger than an article may have. Raises `InvalidInput`."""
    most = plugin.config.max_body_bytes
    size = len(body.encode("utf-8", "surrogatepass"))
    if size > most:
        raise InvalidInput("body", f"has {size:,} bytes; an article may have {most:,}. Split it into several articles")


async def counted(plugin: PluginContext[ContentConfig], older: Article) -> Article:
    """Return an older version of an article with its own number of words and score, not those of the newest."""
    try:
        found = await analyse(plugin, older)
    except InvalidInput:  # it was stored under bounds that were wider
        return replace(older, word_count=count_words(older.body), score=None)
    return replace(older, word_count=found.word_count, score=found.score.score if found.score else None)


async def rated(plugin: PluginContext[ContentConfig], scorer: ArticleScorer, article: Article) -> Score | None:
    """Return the score of an article with all that is known around it; `None` where its scorer fails."""
    if scorer.rate is None:
        return None
    try:
        with plugin.extensions.calling(f"scorer {scorer.name}", scorer, seconds=_SCORE_SECONDS):
            return await scorer.rate(article)
    except BackendError:
        raise
    except Exception:
        # It belongs to another plugin; what somebody has written must not be lost for its sake.
        log.exception("an article could not be scored", scorer=scorer.name)
        return None


def _with_score(found: Analysis, score: Score | None) -> Analysis:
    words = found.word_count if score is None or score.words is None else score.words
    return replace(found, word_count=words, score=score)


def plain_text(draft: Draft) -> str:
    """Return the text of an article without its title. Raises `InvalidInput`."""
    return text_of(render(draft.body, draft.body_format).html)


@dataclass(frozen=True, slots=True)
class _TextScorer:
    """What scores a text alone, with the plugin that it is of and its name: all that a worker process needs."""

    plugin: str
    name: str
    score: Callable[[ScoredArticle], Score]


def _analysed(draft: Draft, scorer: _TextScorer | None) -> Analysis:
    text = plain_text(draft)
    found = Analysis(count_words(text), fingerprint_of(draft.title, text, draft.language), None)
    return found if scorer is None else _with_score(found, _scored(draft, scorer))


def _scored(draft: Draft, scorer: _TextScorer) -> Score | None:
    article = ScoredArticle(
        title=draft.title,
        body=draft.body,
        body_format=draft.body_format,
        slug=draft.slug,
        excerpt=draft.excerpt,
        keyphrase=draft.keyphrase,
        synonyms=draft.synonyms,
        meta_title=draft.meta_title,
        meta_description=draft.meta_description,
        language=draft.language,
        canonical_url=draft.canonical_url,
        featured_image=bool(draft.featured_media_id),
    )
    try:
        with calling_in_worker(scorer.plugin, f"scorer {scorer.name}", seconds=_SCORE_SECONDS):
            score = scorer.score(article)
            if not isinstance(score, Score):
                raise TypeError(f"it returned {type(score).__name__} instead of a Score")
            return score
    except PressroomError:
        # It belongs to another plugin; what somebody has written must not be lost for its sake.
        log.exception("an article could not be scored", scorer=scorer.name, plugin=scorer.plugin)
        return None


def _owner_of(plugin: PluginContext, scorer: ArticleScorer) -> str:
    return next(owner for owner, one in article_scorers(plugin) if one is scorer)


def scorer_of(plugin: PluginContext[ContentConfig]) -> ArticleScorer | None:
    """Return what scores articles on this server: the scorer that the operator chose, or else the first by plugin id.

    It is `None` where no plugin offers one, or none of the name that was chosen.
    """
    chosen = plugin.config.scorer
    return next((scorer for _, scorer in article_scorers(plugin) if chosen in ("", scorer.name)), None)
