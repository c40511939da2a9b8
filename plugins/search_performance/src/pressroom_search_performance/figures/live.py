"""Asking Google for what is not kept here: hours, search appearances, and pages or queries by country and device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pressroom.sdk import Fetcher

from pressroom_search_performance.figures.asking import DimensionFigures, Figures, Question
from pressroom_search_performance.sources.google import DIMENSIONS, TYPES, GoogleConsole, keys_of
from pressroom_search_performance.sources.requesting import number, objects, text


async def ask_google(
    console: GoogleConsole, site_url: str, question: Question, credential: Mapping[str, str], fetcher: Fetcher
) -> tuple[Sequence[DimensionFigures], str]:
    """Return the rows of a question, and the first date or hour that may still change, if Google names one.

    Raises what `GoogleConsole` does.
    """
    answer = await console.query(site_url, _body(question), credential, fetcher)
    counted = [row for one in objects(answer, "rows") if (row := _counted(question, one)) is not None]
    metadata = answer.get("metadata")
    told = ""
    if isinstance(metadata, dict):
        told = text(metadata.get("first_incomplete_date") or metadata.get("first_incomplete_hour"), 32)
    return counted, told


async def google_totals(
    console: GoogleConsole, site_url: str, question: Question, credential: Mapping[str, str], fetcher: Fetcher
) -> Figures:
    """Return the sums of a question. Raises what `GoogleConsole` does."""
    # Google gives hours only where rows are split by them.
    state = "all" if question.data_state == "hourly_all" else question.data_state
    whole = replace(question, dimensions=(), limit=1, offset=0, data_state=state)
    rows, _ = await ask_google(console, site_url, whole, credential, fetcher)
    return rows[0].figures if rows else Figures()


def _body(question: Question) -> dict[str, Any]:
    body: dict[str, Any] = {
        "startDate": question.start.isoformat(),
        "endDate": question.end.isoformat(),
        "dimensions": [DIMENSIONS[name] for name in question.dimensions],
        "type": TYPES[question.search_type],
        "dataState": question.data_state,
        "rowLimit": question.limit,
        "startRow": question.offset,
    }
    if question.conditions:
        filters = [
            {"dimension": DIMENSIONS[one.dimension], "operator": one.operator, "expression": one.expression}
            for one in question.conditions
        ]
        body["dimensionFilterGroups"] = [{"groupType": "and", "filters": filters}]
    return body


def _counted(question: Question, one: Mapping[str, Any]) -> DimensionFigures | None:
    keys = keys_of(one, len(question.dimensions))
    if keys is None:
        return None
    named: dict[str, str] = dict(zip(question.dimensions, keys, strict=True))
    for name in ("country", "device"):
        if name in named:
            named[name] = named[name].lower()
    figures = Figures(int(number(one.get("clicks"))), int(number(one.get("impressions"))), number(one.get("position")))
    return DimensionFigures(named, figures)
