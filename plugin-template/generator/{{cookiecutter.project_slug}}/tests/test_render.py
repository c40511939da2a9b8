"""Tests of the rendering, without a host."""

from xml.etree import ElementTree

import pytest
from pydantic import ValidationError

from {{ cookiecutter.package }}.params import BadgeParams
from {{ cookiecutter.package }}.render import render, text_width

NAMESPACE = {"svg": "http://www.w3.org/2000/svg"}


def draw(label: str, value: str, color: str = "#2f6f4f", label_color: str = "#1d1a17") -> ElementTree.Element:
    params = BadgeParams.model_validate({"label": label, "value": value, "color": color})
    return ElementTree.fromstring(render(params, label_color).content)


@pytest.mark.parametrize("text", ["passing", "</text><script>", '"&amp;"', "]]>", "日本語", "e\u0301", "\u200d", " "])
def test_any_text_is_drawn_as_it_is(text: str) -> None:
    svg = draw(text, "a")
    title = svg.findtext("svg:title", namespaces=NAMESPACE)
    assert title == f"{text}: a"
    assert [one.text for one in svg.iterfind(".//svg:text", NAMESPACE)] == [text, "a"]


@pytest.mark.parametrize("text", ["", "a\nb", "\x00", "\x1b[0m", "\u2028", "\uffff", "a" * 61])
def test_text_that_a_badge_cannot_hold_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        draw(text, "a")


def test_wide_characters_take_more_room_than_narrow_ones() -> None:
    assert text_width("iiii") < text_width("nnnn") < text_width("mmmm") <= text_width("日本語字")


@pytest.mark.parametrize(
    ("color", "ink"),
    [
        ("#fff", "#000000"),
        ("#1d1a17", "#ffffff"),
        ("#00000020", "#000000"),
        ("#00c000", "#000000"),
        ("#757575", "#ffffff"),
    ],
)
def test_the_text_stands_out(color: str, ink: str) -> None:
    texts = draw("a", "b", color).iterfind(".//svg:text", NAMESPACE)
    assert [text.get("fill") for text in texts] == ["#ffffff", ink]


def test_a_translucent_colour_stays_translucent() -> None:
    fills = [path.get("fill-opacity") for path in draw("a", "b", "#00000080").iterfind(".//svg:path", NAMESPACE)]
    assert fills == [None, "0.502"]
