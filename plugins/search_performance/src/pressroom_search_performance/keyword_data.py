"""Search volume and difficulty of phrases from DataForSEO, cached so that each is paid for once."""

from __future__ import annotations

import base64
import hashlib
import math
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

from pressroom.sdk import BackendError, Fetcher, InvalidInput, PluginContext, Rejected
from pressroom_content.contract import SearchLimited
from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from pressroom_search_performance.config import SearchPerformanceConfig
from pressroom_search_performance.contract import (
    Competition,
    KeywordFigures,
    KeywordQuestion,
    KeywordResult,
    KeywordSource,
)
from pressroom_search_performance.sources.requesting import SourceRefused, ask, number, objects, text
from pressroom_search_performance.tables import KeywordDataRow

NAME: Final = "dataforseo"
TITLE: Final = "DataForSEO"
MAX_PHRASE_LENGTH: Final = 80
"""Maximum characters of a phrase (Google Ads)."""

MAX_WORDS: Final = 10
"""Maximum words of a phrase (Google Ads)."""

_VOLUME: Final = "/v3/keywords_data/google_ads/search_volume/live"
_DIFFICULTY: Final = "/v3/dataforseo_labs/google/bulk_keyword_difficulty/live"
_LOCATIONS: Final = "/v3/keywords_data/google_ads/locations"
_OK: Final = 20000
_TOO_MANY: Final = frozenset({40202, 40209, 50303})
_PAUSE: Final = 60
_MAX_CACHED: Final = 300
_REPLACED_CHARACTERS: Final = str.maketrans(dict.fromkeys(",!@%^()={};~`<>?\\|\u2015", " "))
"""Characters that Google Ads rejects in phrases; without them it finds the same searches."""

_COMPETITION: Final = frozenset({"low", "medium", "high"})


class DataForSeo:
    """Client for the DataForSEO API.

    Args:
        url: base URL of the API.
        login: login of the API.
        password: password of the API.
    """

    def __init__(self, url: str, login: str, password: str) -> None:
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Basic {base64.b64encode(f'{login}:{password}'.encode()).decode()}"}
        self._locations: OrderedDict[str, int] = OrderedDict()

    async def ask(self, question: KeywordQuestion, fetcher: Fetcher) -> KeywordResult:
        """See `QueryKeywords`. Queries difficulty first: if that fails, the more expensive request is never sent."""
        for phrase in question.phrases:
            if len(phrase) > MAX_PHRASE_LENGTH or len(phrase.split()) > MAX_WORDS:
                raise InvalidInput(
                    "phrases", f"{phrase!r} has more than {MAX_PHRASE_LENGTH} characters or {MAX_WORDS} words"
                )
        location = await self._location(question.country, fetcher)
        sent = {phrase: _normalised(phrase) for phrase in question.phrases}
        keywords = list(dict.fromkeys(filter(None, sent.values())))
        if not keywords:
            return KeywordResult(())
        body = [{"keywords": keywords, "location_code": location, "language_code": question.language}]
        difficulties, cost = await self._difficulties(body, fetcher)
        response = await self._send("POST", _VOLUME, fetcher, body)
        volumes = {text(result.get("keyword"), MAX_PHRASE_LENGTH): result for result in _results(response)}
        figures = tuple(
            _figures(phrase, volumes.get(words, {}), difficulties.get(words)) for phrase, words in sent.items()
        )
        return KeywordResult(figures, round(cost + _cost(response), 6))

    async def _difficulties(self, body: Any, fetcher: Fetcher) -> tuple[Mapping[str, int], float]:
        try:
            response = await self._send("POST", _DIFFICULTY, fetcher, body)
        except SourceRefused:  # fewer countries and languages have difficulties than volumes
            return {}, 0.0
        items = [item for result in _results(response) for item in objects(result, "items")]
        difficulties = {
            text(item.get("keyword"), MAX_PHRASE_LENGTH): min(100, round(number(item["keyword_difficulty"])))
            for item in items
            if _is_number(item.get("keyword_difficulty"))
        }
        return difficulties, _cost(response)

    async def _location(self, country: str, fetcher: Fetcher) -> int:
        """Return the location code of a country. The lookup is free. Raises `InvalidInput` for unknown countries."""
        cached = self._locations.get(country)
        if cached is not None:
            return cached
        try:
            response = await self._send("GET", f"{_LOCATIONS}/{country.lower()}", fetcher)
        except SourceRefused:
            response = {}
        for location in _results(response):
            code = location.get("location_code")
            if (
                location.get("location_type") == "Country"
                and location.get("country_iso_code") == country
                and type(code) is int
            ):
                self._locations[country] = code
                while len(self._locations) > _MAX_CACHED:
                    self._locations.popitem(last=False)
                return code
        raise InvalidInput("country", f"{TITLE} has no figures of {country}; give a code of two letters such as US")

    async def _send(self, method: str, path: str, fetcher: Fetcher, body: Any = None) -> Any:
        return await ask(
            fetcher, TITLE, method, f"{self._url}{path}", headers=self._headers, body=body, failure=_failure
        )


def source(provider: DataForSeo) -> KeywordSource:
    """Return the DataForSEO keyword source."""
    return KeywordSource(NAME, TITLE, provider.ask)


def _failure(status: int, document: Any) -> BackendError | Rejected | None:
    """Return the error in a response, or `None`. Nearly all have status 200; some affect only one task."""
    if not isinstance(document, dict):
        return None
    tasks = objects(document, "tasks")
    for part in (document, *tasks):
        code = part.get("status_code")
        if code == _OK or (not isinstance(code, int) and part is not document):
            continue
        message = " ".join(text(part.get("status_message"), 300).split())
        return _error(code if isinstance(code, int) else status * 100, message)
    return None


def _error(code: int, message: str) -> BackendError | Rejected | None:
    family = code // 100
    if family == 401 and code != 40101:
        return Rejected(f"{TITLE} does not accept the operator's login: {message}")
    if code in _TOO_MANY:
        return SearchLimited(f"{TITLE} gets too many requests: {message}", retry_after=_PAUSE)
    if family == 402:
        return BackendError(f"the operator's account at {TITLE} has to be topped up: {message}")
    if 40000 <= code < 50000 and code != 40101:
        return SourceRefused(f"{TITLE} refused the request: {message}")
    if code >= 50000 or code == 40101:
        return BackendError(f"{TITLE} is not available right now: {message}")
    return None


def _results(response: Any) -> Sequence[Mapping[str, Any]]:
    return [result for task in objects(response, "tasks") for result in objects(task, "result")]


def _cost(response: Any) -> float:
    return number(response.get("cost")) if isinstance(response, dict) else 0.0


def _figures(phrase: str, entry: Mapping[str, Any], difficulty: int | None) -> KeywordFigures:
    volume, cpc = entry.get("search_volume"), entry.get("cpc")
    competition = text(entry.get("competition"), 16).lower()
    return KeywordFigures(
        phrase,
        volume=int(number(volume)) if _is_number(volume) else None,
        difficulty=difficulty,
        cpc=round(number(cpc), 2) if _is_number(cpc) else None,
        competition=cast("Competition", competition) if competition in _COMPETITION else None,
    )


def _normalised(phrase: str) -> str:
    return " ".join(phrase.translate(_REPLACED_CHARACTERS).split())


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


@dataclass(frozen=True, slots=True)
class StoredKeyword:
    """The figures of a phrase, and when the provider returned them."""

    figures: KeywordFigures
    at: datetime


class KeywordData:
    """Cache of a provider's data by country and language. All accounts share it: it contains no personal data."""

    def __init__(self, plugin: PluginContext[SearchPerformanceConfig], source: str) -> None:
        self._plugin = plugin
        self._source = source
        self._age = timedelta(days=plugin.config.keyword_days)

    async def read(self, question: KeywordQuestion) -> Mapping[str, StoredKeyword]:
        """Return cached data that has not expired, by phrase."""
        ids = [self._id(question, phrase) for phrase in question.phrases]
        statement = select(KeywordDataRow).where(
            KeywordDataRow.id.in_(ids), KeywordDataRow.fetched_at > datetime.now(UTC) - self._age
        )
        async with self._plugin.services.database.reading() as session:
            return {row.phrase: _stored_keyword(row) for row in await session.scalars(statement)}

    async def write(self, question: KeywordQuestion, figures: Iterable[KeywordFigures]) -> Mapping[str, StoredKeyword]:
        """Store new figures, delete expired ones, and return those stored, by phrase.

        Phrases without data are stored too, because querying them again would cost as much.
        """
        now = datetime.now(UTC)
        by_phrase = {keyword.phrase: keyword for keyword in figures}
        stored = {
            phrase: StoredKeyword(by_phrase.get(phrase) or KeywordFigures(phrase), now) for phrase in question.phrases
        }
        database = self._plugin.services.database
        insert = sqlite_insert if database.dialect == "sqlite" else postgresql_insert
        rows: Sequence[Mapping[str, object]] = [self._row(question, keyword) for keyword in stored.values()]
        adding = insert(KeywordDataRow).values(rows)
        changed = {name: adding.excluded[name] for name in ("volume", "difficulty", "cpc", "competition", "fetched_at")}
        async with database.writing() as session:
            await session.execute(delete(KeywordDataRow).where(KeywordDataRow.fetched_at <= now - self._age))
            await session.execute(adding.on_conflict_do_update(index_elements=["id"], set_=changed))
        return stored

    def _row(self, question: KeywordQuestion, stored: StoredKeyword) -> Mapping[str, object]:
        figures = stored.figures
        return {
            "id": self._id(question, figures.phrase),
            "source": self._source,
            "country": question.country,
            "language": question.language,
            "phrase": figures.phrase,
            "volume": figures.volume,
            "difficulty": figures.difficulty,
            "cpc": figures.cpc,
            "competition": figures.competition or "",
            "fetched_at": stored.at,
        }

    def _id(self, question: KeywordQuestion, phrase: str) -> str:
        parts = (self._source, question.country, question.language, phrase)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _stored_keyword(row: KeywordDataRow) -> StoredKeyword:
    competition = cast("Competition", row.competition) if row.competition else None
    return StoredKeyword(KeywordFigures(row.phrase, row.volume, row.difficulty, row.cpc, competition), row.fetched_at)
