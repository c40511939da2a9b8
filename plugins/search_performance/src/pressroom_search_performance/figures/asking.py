"""What is asked of figures, and what is answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final, Literal

from pressroom_content.contract import Grain, SearchType

Dimension = Literal["date", "query", "page", "country", "device", "search_appearance", "hour"]
Operator = Literal["equals", "notEquals", "contains", "notContains", "includingRegex", "excludingRegex"]
DataState = Literal["final", "all", "hourly_all"]

_REGEX: Final = frozenset({"includingRegex", "excludingRegex"})
_SPLITS: Final[Mapping[Grain, frozenset[str]]] = {
    "day": frozenset({"date", "country", "device"}),
    "page": frozenset({"date", "page"}),
    "query": frozenset({"date", "query"}),
    "page_query": frozenset({"date", "page", "query"}),
}


@dataclass(frozen=True, slots=True)
class Condition:
    """Narrows what is counted. `equals` and `notEquals` are exact, `contains` and `notContains` ignore case."""

    dimension: Dimension
    operator: Operator
    expression: str


@dataclass(frozen=True, slots=True)
class Question:
    """Figures of some days, split by dimensions."""

    start: date
    end: date
    dimensions: tuple[Dimension, ...] = ()
    conditions: tuple[Condition, ...] = ()
    search_type: SearchType = "web"
    data_state: DataState = "final"
    limit: int = 50
    offset: int = 0

    def grain(self) -> Grain | None:
        """Return the coarsest grain that can answer, or `None` where only the source itself can.

        A regular expression is in Google's own dialect and untrusted: it does not run here.
        """
        if self.data_state == "hourly_all" or any(one.operator in _REGEX for one in self.conditions):
            return None
        used = {*self.dimensions, *(one.dimension for one in self.conditions)}
        return next((grain for grain, splits in _SPLITS.items() if used <= splits), None)


@dataclass(frozen=True, slots=True)
class Figures:
    """What was counted. `position` is the mean position, weighted by impressions; 0 where there were none."""

    clicks: int = 0
    impressions: int = 0
    position: float = 0.0

    @property
    def ctr(self) -> float:
        """The share of impressions that was clicked, 0 to 1."""
        return self.clicks / self.impressions if self.impressions else 0.0


@dataclass(frozen=True, slots=True)
class DimensionFigures:
    """The figures of one combination of keys, by dimension."""

    keys: Mapping[str, str] = field(default_factory=dict)
    figures: Figures = Figures()
