"""Chart scales and lines: any figures stay inside the chart, in chronological order."""

from __future__ import annotations

import math
import re
from datetime import date, timedelta
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom_search_performance.charts.drawing import METRICS, axis_days, country_name
from pressroom_search_performance.charts.svg import (
    HEIGHT,
    WIDTH,
    Axis,
    Point,
    chart,
    compact,
    count_axis,
    position_axis,
    runs,
    share_axis,
    sparkline,
    x_positions,
)
from pressroom_search_performance.figures.queries import Figures

counts = st.one_of(st.none(), st.integers(0, 10**18).map(float))
shares = st.one_of(st.none(), st.floats(0, 1))
positions = st.one_of(st.none(), st.floats(1, 1e6))
kinds = st.sampled_from([(counts, count_axis), (shares, share_axis), (positions, position_axis)])
HOSTILE = "</title><script>alert(1)</script>&\"'{{7*7}}"


def axis_of(kind: tuple[st.SearchStrategy[float | None], object], *lists: list[float | None]) -> Axis:
    known = [value for values in lists for value in values if value is not None]
    return kind[1](known)  # type: ignore[operator,no-any-return]


def numbers(ticks: tuple[str, ...]) -> list[float]:
    units = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
    values = []
    for tick in ticks:
        text = tick.removesuffix(" %").replace(",", "")
        values.append(float(text.rstrip("KMBT")) * units.get(text[-1], 1))
    return values


@given(st.data(), kinds)
def test_an_axis_has_few_round_ticks_and_holds_every_value(data: st.DataObject, kind: tuple) -> None:  # type: ignore[type-arg]
    values = data.draw(st.lists(kind[0], max_size=50))
    axis = axis_of(kind, values)
    assert 2 <= len(axis.ticks) <= 6
    assert len(set(axis.ticks)) == len(axis.ticks)
    ticks = numbers(axis.ticks)
    assert ticks == sorted(ticks, reverse=not axis.inverted)
    heights = [axis.height(value) for value in values if value is not None]
    assert all(0 <= height <= 1 for height in heights)
    for value in values:
        if value is not None:
            assert axis.low <= value <= axis.high * (1 + 1e-6)


@given(st.data(), kinds)
def test_lines_stay_inside_and_go_forward_in_time(data: st.DataObject, kind: tuple) -> None:  # type: ignore[type-arg]
    values = data.draw(st.lists(kind[0], max_size=120))
    found = runs(values, axis_of(kind, values))
    spots = [spot for run in found for spot in run]
    assert len(spots) == sum(value is not None for value in values)
    assert all(math.isfinite(x) and math.isfinite(y) for x, y in spots)
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in spots)
    assert all(before < after for (before, _), (after, _) in pairwise(spots))
    gaps = sum(one is not None and other is None for one, other in pairwise([*values, None]))
    assert len(found) == gaps


@given(st.data(), kinds, st.text(max_size=20))
def test_the_chart_is_whole_and_holds_no_coordinate_beyond_its_box(
    data: st.DataObject,
    kind: tuple,  # type: ignore[type-arg]
    text: str,
) -> None:
    rows = data.draw(st.lists(st.tuples(kind[0], kind[0], st.booleans()), max_size=40))
    points = [Point(HOSTILE, now, then, final) for now, then, final in rows]
    axis = axis_of(kind, [now for now, _, _ in rows], [then for _, then, _ in rows])
    title = "".join(character for character in text if character.isprintable() and character.isascii())
    tree = ET.fromstring(chart("chart-x", title, HOSTILE, points, axis))
    groups = tree.findall("g")
    assert len(groups) == len(points)
    assert [group.findtext("title") for group in groups] == [HOSTILE] * len(points)
    assert tree.findtext("title") == title
    lefts = [float(group.find("rect").attrib["x"]) for group in groups]  # type: ignore[union-attr]
    assert lefts == sorted(lefts)
    for element in tree.iter():
        for name, limit in (("x", WIDTH), ("x1", WIDTH), ("x2", WIDTH), ("y1", HEIGHT), ("y2", HEIGHT)):
            assert 0 <= float(element.attrib.get(name, 0)) <= limit
        for x, y in re.findall(r"[ML](\S+?) ([\d.e+-]+)", element.attrib.get("d", "")):
            assert 0 <= float(x) <= WIDTH
            assert 0 <= float(y) <= HEIGHT
        assert "nan" not in element.attrib.get("d", "")


def test_better_positions_and_more_clicks_are_higher() -> None:
    positions_axis, clicks_axis = position_axis([2.0, 30.0]), count_axis([3.0, 900.0])
    assert positions_axis.height(2.0) > positions_axis.height(30.0)
    assert clicks_axis.height(900.0) > clicks_axis.height(3.0)


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([], ("1", "0")),
        ([0.0], ("1", "0")),
        ([1.0], ("1", "0")),
        ([3.0], ("3", "2", "1", "0")),
        ([700.0], ("800", "600", "400", "200", "0")),
        ([2_147_483_647.0], ("3B", "2B", "1B", "0")),
    ],
)
def test_counts_have_integer_ticks(values: list[float], ticks: tuple[str, ...]) -> None:
    assert count_axis(values).ticks == ticks


def test_shares_and_positions_have_their_own_scales() -> None:
    assert share_axis([]).ticks == ("1 %", "0 %")
    assert share_axis([0.004]).ticks == ("0.4 %", "0.3 %", "0.2 %", "0.1 %", "0.0 %")
    assert share_axis([1.0]).ticks == ("100 %", "50 %", "0 %")
    assert position_axis([]).ticks == ("1", "2")
    assert position_axis([1.0, 4.2]).ticks == ("1", "2", "3", "4", "5")
    assert position_axis([91.0, 120.0]).ticks == ("91", "101", "111", "121")


def test_preliminary_values_are_dashed_from_the_last_final_one() -> None:
    points = [Point("a", 1.0), Point("b", 2.0), Point("c", 3.0, final=False), Point("d", None, final=False)]
    tree = ET.fromstring(chart("c", "t", "d", points, count_axis([3.0])))
    paths = {path.attrib["class"]: path.attrib["d"] for path in tree.findall("path")}
    assert paths["now"].count("L") == 1
    assert paths["new"].split("L")[0][1:] == paths["now"].split("L")[1]
    assert paths["new"].count("L") == 1


def test_a_single_value_is_a_dot_in_the_middle() -> None:
    assert x_positions(1) == [WIDTH / 2]
    tree = ET.fromstring(chart("c", "t", "d", [Point("a", 5.0)], count_axis([5.0])))
    assert [path.attrib["class"] for path in tree.findall("path")] == ["dot now"]
    assert "<path" in sparkline([5.0], count_axis([5.0]))
    assert x_positions(0) == []


@given(st.integers(0, 200), st.booleans())
def test_days_on_the_axis_are_few_and_begin_and_end_with_the_period(count: int, months: bool) -> None:
    days = [date(2026, 1, 1) + timedelta(days=number * (7 if months else 1)) for number in range(count)]
    shown = axis_days(days, months=months)
    assert len(shown) <= 5
    assert len(shown) >= min(count, 2)
    if days:
        assert shown[0].startswith(f"{days[0]:%b}" if months else f"{days[0].day} ")


@pytest.mark.parametrize(
    ("key", "now", "then", "kind", "text"),
    [
        ("clicks", Figures(150, 1000, 4), Figures(100, 1000, 4), "better", "50.0 % more"),
        ("clicks", Figures(0, 10, 4), Figures(100, 1000, 4), "worse", "100.0 % less"),
        ("clicks", Figures(5, 10, 4), Figures(0, 10, 4), "", ""),
        ("clicks", Figures(5, 10, 4), None, "", ""),
        ("ctr", Figures(40, 1000, 4), Figures(50, 1000, 4), "worse", "1.0 points lower"),
        ("position", Figures(1, 10, 3.0), Figures(1, 10, 5.5), "better", "2.5 better"),
        ("position", Figures(1, 10, 5.5), Figures(1, 10, 3.0), "worse", "2.5 worse"),
        ("position", Figures(0, 0, 0), Figures(1, 10, 3.0), "", ""),
        ("impressions", Figures(1, 10, 3.0), Figures(2, 10, 3.0), "same", "no change"),
    ],
)
def test_changes_are_described_in_words(key: str, now: Figures, then: Figures | None, kind: str, text: str) -> None:
    (metric,) = [metric for metric in METRICS if metric.key == key]
    change = metric.change(now, then)
    assert (change.kind, change.text) == (kind, text)


def test_countries_have_names() -> None:
    assert [country_name(code) for code in ("gbr", "zzz", "", "xyz")] == ["United Kingdom", "Unknown", "Unknown", "XYZ"]


def test_numbers_are_brief() -> None:
    assert [compact(value) for value in (0, 999, 1500, 2e6, 1e15)] == ["0", "999", "1.5K", "2M", "1,000T"]
