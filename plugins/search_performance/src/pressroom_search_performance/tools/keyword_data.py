"""Tool for the search volume and difficulty of phrases."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Final
from weakref import WeakValueDictionary

from pressroom.sdk import (
    Annotations,
    BackendError,
    Call,
    InvalidInput,
    Params,
    PluginContext,
    PluginError,
    Rejected,
    ToolResult,
    mcp_tool,
)
from pressroom_content.contract import SearchLimited
from pydantic import BaseModel, Field

from pressroom_search_performance.config import SearchPerformanceConfig
from pressroom_search_performance.contract import Competition, KeywordQuestion, KeywordResult, KeywordSource
from pressroom_search_performance.host import keyword_source_of, plugin_of
from pressroom_search_performance.keyword_data import KeywordData, StoredKeyword
from pressroom_search_performance.sources.requesting import SourceRefused
from pressroom_search_performance.tools.common import FigureSourceUnavailable

MAX_PHRASES: Final = 100
_CURRENCY: Final = "USD"


class KeywordDataParams(Params):
    """Which phrases."""

    phrases: tuple[Annotated[str, Field(min_length=1, max_length=80)], ...] = Field(
        min_length=1,
        max_length=MAX_PHRASES,
        strict=False,
        description="As people type them.",
    )
    country: Annotated[str, Field(pattern=r"^[A-Za-z]{2}$")] | None = Field(
        default=None, description="Two letters such as US; default: the server's."
    )
    language: Annotated[str, Field(pattern=r"^[A-Za-z]{2}$")] | None = Field(
        default=None, description="Two letters such as en; default: the server's."
    )


class KeywordOut(BaseModel):
    """Data about a phrase."""

    phrase: str
    volume: int | None = Field(description="Searches in a month, mean of a year; null if unknown.")
    difficulty: int | None = Field(description="How hard the first ten results are to reach, 0 to 100.")
    cpc: float | None = Field(description="What a click on an advertisement costs, in US dollars.")
    competition: Competition | None = Field(description="How many advertisers bid for it.")
    as_of: datetime = Field(description="When the provider gave the figures.")


class Cost(BaseModel):
    """What the result cost the operator of this server."""

    amount: float
    currency: str
    phrases_asked: int = Field(description="Phrases that the provider was asked about; the others were known here.")


class KeywordDataResult(BaseModel):
    """The result of `get_keyword_data`."""

    rows: list[KeywordOut] = Field(description="In the order of the arguments.")
    provider: str
    cost: Cost
    country: str
    language: str


def unavailable(plugin: PluginContext[SearchPerformanceConfig]) -> str:
    """Return why the tool is unavailable, or an empty string."""
    if keyword_source_of(plugin) is not None:
        return ""
    if configured := plugin.config.keyword_source:
        return f"no plugin of this server offers {configured}, the provider of keyword data that the operator chose"
    return (
        "the operator has to connect a provider of keyword data, such as DataForSEO (dataforseo_login and "
        "dataforseo_password in plugins.search_performance.config); suggest_keywords works without one"
    )


@mcp_tool(
    name="get_keyword_data",
    title="Keyword data",
    description=(
        "Returns monthly searches for phrases, how hard they are to rank for (0 to 100), and what advertisers pay "
        "for a click. Use it to choose between phrases, such as those of suggest_keywords; give all of them at "
        "once. Unknown values are null."
    ),
    result=KeywordDataResult,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("performance",),
    quota="keyword_lookups",
    free="phrases whose figures are kept",
    timeout=130,
    unavailable=unavailable,
)
async def get_keyword_data(params: KeywordDataParams, call: Call) -> ToolResult:
    """Return figures of phrases."""
    plugin = plugin_of(call)
    config = plugin.config
    source = keyword_source_of(plugin)
    if source is None:
        raise FigureSourceUnavailable(unavailable(plugin))
    phrases = tuple(dict.fromkeys(_phrase(phrase) for phrase in params.phrases))
    question = KeywordQuestion(
        phrases,
        (params.country or config.keyword_country).upper(),
        (params.language or config.keyword_language).lower(),
    )
    data = KeywordData(plugin, source.name)
    stored = dict(await data.read(question))
    cost, lookups = 0.0, 0
    if len(stored) < len(phrases):
        async with _turn(question):
            stored |= await data.read(question)  # a concurrent call may have stored them
            missing = replace(question, phrases=tuple(phrase for phrase in phrases if phrase not in stored))
            if missing.phrases:
                response = await _query_source(source, missing, plugin)
                cost, lookups = response.cost, len(missing.phrases)
                stored |= await data.write(missing, response.figures)
    rows = [_row(stored[phrase]) for phrase in phrases]
    result = KeywordDataResult(
        rows=rows,
        provider=source.title,
        cost=Cost(amount=cost, currency=_CURRENCY, phrases_asked=lookups),
        country=question.country,
        language=question.language,
    )
    return ToolResult(_text(result), result)


TOOLS: Final = (get_keyword_data,)

_turns: Final[WeakValueDictionary[tuple[int, str, str], asyncio.Lock]] = WeakValueDictionary()


def _turn(question: KeywordQuestion) -> asyncio.Lock:
    """Return a lock per country and language, so that concurrent calls of a process do not pay twice for a phrase."""
    key = (id(asyncio.get_running_loop()), question.country, question.language)
    return _turns.setdefault(key, asyncio.Lock())


async def _query_source(
    source: KeywordSource, question: KeywordQuestion, plugin: PluginContext[SearchPerformanceConfig]
) -> KeywordResult:
    operation, seconds = f"keyword source {source.name}", plugin.config.source_seconds
    try:
        with plugin.extensions.calling(operation, source, passes=(Exception,), seconds=seconds):
            response: KeywordResult = await source.ask(question, plugin.services.fetcher)
    except SourceRefused as error:
        raise InvalidInput("", error.message) from None
    except SearchLimited as error:
        raise FigureSourceUnavailable(f"{error.message}; call again in {error.retry_after} seconds") from None
    except (Rejected, BackendError) as error:
        raise FigureSourceUnavailable(f"{error.message.rstrip('.')}. Only the operator can fix it") from None
    except PluginError as error:
        if isinstance(error.__cause__, TimeoutError):
            raise FigureSourceUnavailable(f"{source.title} did not respond within {seconds:g} seconds") from error
        raise
    return response


def _phrase(typed: str) -> str:
    phrase = " ".join("".join(character if character.isprintable() else " " for character in typed.lower()).split())
    if not phrase:
        raise InvalidInput("phrases", "must not contain an empty phrase")
    return phrase


def _row(stored: StoredKeyword) -> KeywordOut:
    figures = stored.figures
    return KeywordOut(
        phrase=figures.phrase,
        volume=figures.volume,
        difficulty=figures.difficulty,
        cpc=figures.cpc,
        competition=figures.competition,
        as_of=stored.at,
    )


def _text(result: KeywordDataResult) -> str:
    lookups = result.cost.phrases_asked
    cost = f"{result.cost.amount:g} {result.cost.currency}"
    where = f"{result.provider}, {result.country}, {result.language}"
    lines = [f"{where}: {lookups} of {len(result.rows)} phrases were asked for, which cost {cost}"]
    for row in result.rows:
        volume = "volume unknown" if row.volume is None else f"{row.volume} searches a month"
        difficulty = "difficulty unknown" if row.difficulty is None else f"difficulty {row.difficulty}"
        lines.append(f"{row.phrase}: {volume}, {difficulty}")
    return "\n".join(lines)
