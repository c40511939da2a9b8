"""Positions in a text that error messages refer to."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pressroom.interfaces.tools_api.pages.text_ranges import excerpt, find_range

HTML = (
    "<div style=\"color:bluish;\n  background : url( 'http://x.example/a.png' )\">\n"
    '<img onclick="x" src="http://example.com/a.png">\n</div>'
)


@pytest.mark.parametrize(
    ("message", "marked"),
    [
        (
            '<img src> at line 3, column 23 names "http://example.com/a.png"; only https:// and data:image/ URLs',
            "http://example.com/a.png",
        ),
        ("<img> at line 3, column 2 is not allowed", "img"),
        ("something is wrong in line 4", "</div>"),
        ('color: "bluish" is not understood', "color:bluish"),
        ('Color: "BLUISH" is not understood.', "color:bluish"),
        ('background: url() names "http://x.example/a.png"; only data:image/', "http://x.example/a.png"),
        ('the attribute "onclick" is ignored: scripts do not run here', "onclick"),
        ("The attribute onclick is not supported.", "onclick"),
        ("The property background is not supported.", "background "),
        ('a style could not be read near "bluish; background : url(…"', "bluish;\n  background : url("),
    ],
)
def test_a_message_links_to_its_location(message: str, marked: str) -> None:
    position = find_range(HTML, message)
    assert position is not None
    assert HTML[position.start : position.end] == marked


@pytest.mark.parametrize(
    "message",
    [
        "",
        "is missing",
        'names "nothing of this"',
        "line 9, column 1",
        "line 0",
        "the property float is unknown",
        'a "x"',
    ],
)
def test_a_message_without_a_location_has_no_link(message: str) -> None:
    assert find_range(HTML, message) is None


def test_an_excerpt_shows_the_line_with_the_problem() -> None:
    result = excerpt(HTML.replace("\n", "\r\n"), "<img> at line 3, column 2 is not allowed")
    assert result is not None
    assert (result.line, result.column, result.before, result.marked) == (3, 2, "<", "img")
    assert result.after.startswith(" onclick")


def test_an_excerpt_of_a_long_line_is_short() -> None:
    result = excerpt("a" * 5000 + " wrong " + "b" * 5000, 'it says "wrong"')
    assert result is not None
    assert len(result.before + result.marked + result.after) < 120
    assert result.column == 5002


@example(text="", words="", line=1, column=0)
@given(
    st.text(alphabet="ab<>\"' :;=\n\r(", max_size=60),
    st.text(alphabet='ab:"… line,column123', max_size=60),
    st.integers(0, 8),
    st.integers(0, 80),
)
def test_a_place_lies_in_the_text(text: str, words: str, line: int, column: int) -> None:
    for message in (words, f"{words} at line {line}, column {column} {words}", f'x: "{text}"', f"property {words}"):
        place = find_range(text, message)
        assert place is None or 0 <= place.start <= place.end <= len(text)
        excerpt(text, message)
