"""Analysis of an article's text before it is stored: word count, search fingerprint and score."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

import structlog
from pressroom.sdk import (
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

T = TypeVar("T")

_SECONDS: Final = 40.0
"""Time limit for the analysis; an ordinary article of two megabytes takes a quarter of it."""

_SCORE_SECONDS: Final = 25.0
"""Time limit for the scorer."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """The word count, the search fingerprint, and the score if a scorer on this server returned one."""

    word_count: int
    fingerprint: Fingerprint
    score: Score | None


async def analyse(plugin: PluginContext[ContentConfig], article: Article) -> Analysis:
    """Analyse the text of an article in worker processes. The article need not be stored yet.

    Raises:
        InvalidInput: the body is too large, nested too deep, or too complex to be rendered in time.
    """
    check_size(plugin, article.body)
    scorer = scorer_of(plugin)
    scoring = await _scoring(plugin, scorer, article) if scorer is not None else None
    try:
        return await _in_worker(plugin, article.user_id, _analysed, article, scoring)
    except CallError as error:
        if scoring is None or not isinstance(error.__cause__, PluginError):
            raise
        # A plugin's scorer brought the worker down. Continue without a score, so that the author's text is not lost.
        return await _in_worker(plugin, article.user_id, _analysed, article, None)


async def _in_worker(
    plugin: PluginContext[ContentConfig], owner: str, function: Callable[..., T], *arguments: object
) -> T:
    workers = plugin.services.workers
    options: dict[str, Any] = {"owner": owner, "what": "the article", "seconds": _SECONDS}
    return await run_with_languages(workers, function, *arguments, **options)


def check_size(plugin: PluginContext[ContentConfig], body: str) -> None:
    """Raise `InvalidInput` if a body is larger than the limit for articles."""
    max_bytes = plugin.config.max_body_bytes
    size = len(body.encode("utf-8", "surrogatepass"))
    if size > max_bytes:
        raise InvalidInput(
            "body", f"has {size:,} bytes; an article may have {max_bytes:,}. Split it into several articles"
        )


async def counted(plugin: PluginContext[ContentConfig], older: Article) -> Article:
    """Return an older version of an article with its own word count and score instead of those of the newest."""
    try:
        analysis = await analyse(plugin, older)
    except InvalidInput:  # it was stored when the limits were higher
        return replace(older, word_count=count_words(older.body), score=None)
    return replace(older, word_count=analysis.word_count, score=analysis.score.score if analysis.score else None)


async def rated(plugin: PluginContext[ContentConfig], scorer: ArticleScorer, article: Article) -> Score | None:
    """Return the score of an article in its current context, or `None` if the scorer fails."""
    scoring = await _scoring(plugin, scorer, article)
    if scoring is None:
        return None
    try:
        return await _in_worker(plugin, article.user_id, _scored, scoring)
    except CallError as error:
        log.warning("an article could not be scored", scorer=scorer.name, error=error.message)
        return None


async def _scoring(plugin: PluginContext[ContentConfig], scorer: ArticleScorer, article: Article) -> _Scoring | None:
    """Return the scoring function for a worker process, or `None` if the scorer fails to prepare it."""
    owner = _owner_of(plugin, scorer)
    if scorer.prepare is None:
        return _Scoring(owner, scorer.name, pickle.dumps(partial(scorer.score, _scored_article(article))))
    try:
        with plugin.extensions.calling(f"scorer {scorer.name}", scorer, seconds=_SCORE_SECONDS):
            return _Scoring(owner, scorer.name, pickle.dumps(await scorer.prepare(article)))
    except Exception:
        # The scorer belongs to another plugin; its failure must not lose the author's text.
        log.exception("an article could not be scored", scorer=scorer.name)
        return None


def plain_text(article: Article | Draft, *, with_code: bool = True) -> str:
    """Return the body of an article as plain text; without code, as `text_of` does. Raises `InvalidInput`."""
    return text_of(render(article.body, article.body_format).html, with_code=with_code)


@dataclass(frozen=True, slots=True)
class _Scoring:
    """A pickled function that returns the score of an article, with the names of its plugin and scorer."""

    plugin: str
    name: str
    function: bytes


def _analysed(article: Article, scoring: _Scoring | None) -> Analysis:
    text = plain_text(article)
    score = None if scoring is None else _scored(scoring)
    words = count_words(text) if score is None or score.words is None else score.words
    return Analysis(words, fingerprint_of(article.title, text, article.language), score)


def _scored(scoring: _Scoring) -> Score | None:
    try:
        with calling_in_worker(scoring.plugin, f"scorer {scoring.name}", seconds=_SCORE_SECONDS):
            score = pickle.loads(scoring.function)()  # noqa: S301 - pickled by this server
            if not isinstance(score, Score):
                raise TypeError(f"it returned {type(score).__name__} instead of a Score")
            return score
    except PressroomError:
        # The scorer belongs to another plugin; its failure must not lose the author's text.
        log.exception("an article could not be scored", scorer=scoring.name, plugin=scoring.plugin)
        return None


def _scored_article(article: Article) -> ScoredArticle:
    return ScoredArticle(
        title=article.title,
        body=article.body,
        body_format=article.body_format,
        slug=article.slug,
        excerpt=article.excerpt,
        keyphrase=article.keyphrase,
        synonyms=article.synonyms,
        meta_title=article.meta_title,
        meta_description=article.meta_description,
        language=article.language,
        canonical_url=article.canonical_url,
        featured_image=bool(article.featured_media_id),
    )


def _owner_of(plugin: PluginContext, scorer: ArticleScorer) -> str:
    return next(owner for owner, candidate in article_scorers(plugin) if candidate is scorer)


def scorer_of(plugin: PluginContext[ContentConfig]) -> ArticleScorer | None:
    """Return the scorer of this server: the one that the operator chose, or else the first by plugin id.

    Return `None` if no plugin offers a scorer, or no scorer has the chosen name.
    """
    configured = plugin.config.scorer
    return next((scorer for _, scorer in article_scorers(plugin) if configured in ("", scorer.name)), None)
