"""What other plugins can add: providers of keyword data, through the hook `pressroom_keyword_sources`."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

import pluggy
from pressroom.sdk import Fetcher, PluginContext

hookspec = pluggy.HookspecMarker("pressroom")

Competition = Literal["low", "medium", "high"]
"""How many advertisers bid for a phrase."""


@dataclass(frozen=True, slots=True)
class KeywordQuestion:
    """Phrases that are asked about: each once, in lower case and with single spaces.

    `country` is an ISO 3166-1 alpha-2 code in upper case, `language` an ISO 639-1 code in lower case.
    """

    phrases: tuple[str, ...]
    country: str
    language: str


@dataclass(frozen=True, slots=True)
class KeywordFigures:
    """What a provider knows of a phrase; what it does not know is `None`.

    `volume` is the mean number of searches a month over a year, `difficulty` how hard the first ten results are to
    reach, from 0 to 100, and `cpc` what a click on an advertisement costs, in US dollars.
    """

    phrase: str
    volume: int | None = None
    difficulty: int | None = None
    cpc: float | None = None
    competition: Competition | None = None


@dataclass(frozen=True, slots=True)
class KeywordAnswer:
    """The figures of the phrases that a provider knows, and what the question cost the operator, in US dollars."""

    figures: tuple[KeywordFigures, ...]
    cost: float = 0.0


class AskKeywords(Protocol):
    """Asks a provider."""

    def __call__(self, question: KeywordQuestion, fetcher: Fetcher) -> Awaitable[KeywordAnswer]:
        """Return figures.

        Raises `InvalidInput` for what the provider does not accept, `Rejected` where it refuses the operator's
        credential, `SearchLimited` once a limit is reached, and `BackendError` while it is away.
        """


@dataclass(frozen=True, slots=True)
class KeywordSource:
    """A provider of keyword data that is ready to be asked. `name` is kept with its figures, `title` is for people."""

    name: str
    title: str
    ask: AskKeywords


def keyword_sources(plugin: PluginContext) -> tuple[tuple[str, KeywordSource], ...]:
    """Return what plugins contributed through `pressroom_keyword_sources`: pairs of plugin id and record.

    Raises:
        RuntimeError: not all plugins are loaded yet.
    """
    return plugin.extensions.of("pressroom_keyword_sources")


class SearchPerformanceHooks:
    """What plugins can add to search figures."""

    @hookspec
    def pressroom_keyword_sources(self, plugin: PluginContext) -> Iterable[KeywordSource]:
        """Offer a provider of keyword data, where the operator configured it. The first one counts, by plugin id."""
        raise NotImplementedError
