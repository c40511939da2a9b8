"""Elements and attributes look as in browsers, and a warning names those that are ignored."""

from __future__ import annotations

import pytest
from PIL import Image
from pressroom_image_generator.engine import render

FONT = "font-family:Inter;font-size:20px"


def drawn(html: str) -> Image.Image:
    return render(f"<div style='width:100%;height:100%;background:#fff;{FONT}'>{html}</div>", 400, 300).image


def items(*markers: str) -> str:
    """Return a list whose markers are written out."""
    marker = "<span style='position:absolute;right:100%;white-space:pre'>{}. </span>"
    return "".join(f"<li style='position:relative;list-style:none'>{marker.format(text)}item</li>" for text in markers)


ITEMS = "<li>item</li>" * 3


@pytest.mark.parametrize(
    ("attributes", "markers"),
    [
        ("", "1 2 3"),
        ("start=9", "9 10 11"),
        ("start=-1", "-1 0 1"),
        ("reversed", "3 2 1"),
        ("reversed start=10", "10 9 8"),
        ("type=a", "a b c"),
        ("type=A start=26", "Z AA AB"),
        ("type=i start=3", "iii iv v"),
        ("type=I start=1988", "MCMLXXXVIII MCMLXXXIX MCMXC"),
        ("style='list-style-type:lower-roman'", "i ii iii"),
    ],
)
def test_ordered_lists_have_the_numbers_that_their_attributes_ask_for(attributes: str, markers: str) -> None:
    assert drawn(f"<ol {attributes}>{ITEMS}</ol>") == drawn(f"<ol>{items(*markers.split())}</ol>")


def test_numbers_continue_after_the_value_of_an_item() -> None:
    assert drawn("<ol><li>item</li><li value=7>item</li><li>item</li></ol>") == drawn(
        f"<ol>{items('1', '7', '8')}</ol>"
    )


def test_lists_in_lists_have_no_margins_and_other_bullets() -> None:
    inner = "<ul style='margin:0;list-style-type:circle'><li>b</li></ul>"
    assert drawn("<ul><li>a<ul><li>b</li></ul></li></ul>") == drawn(f"<ul><li>a{inner}</li></ul>")


@pytest.mark.parametrize("tag", ["div", "p", "ul", "h1", "span"])
def test_hidden_elements_are_not_drawn(tag: str) -> None:
    assert drawn(f"<{tag} hidden>no</{tag}><p>yes</p>") == drawn("<p>yes</p>")


def test_quotations_have_quotation_marks() -> None:
    # The marks are shaped by themselves, so they have no kerning with the text between them.
    words = "<span>\u201c</span>cheese<span>\u201d</span>"
    assert drawn("<p>Say <q>cheese</q>.</p>") == drawn(f"<p>Say <span>{words}</span>.</p>")


def test_the_content_of_a_center_element_is_centred() -> None:
    assert drawn("<center>a<p>b</p></center>") == drawn("<div style='text-align:center'>a<p>b</p></div>")


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ("<div class='text-xl flex'>x</div>", ("class", "style attributes")),
        ("<div className='text-xl flex'>x</div>", ("classname", "style attributes")),
        ("<p align=center>x</p>", ("align", "text-align")),
        ("<div bgcolor=red>x</div>", ("bgcolor", "background-color")),
        ("<font color=red>x</font>", ("color", "style attribute")),
        ("<input value=x>", ("<input>", "<div>")),
        ("<progress value=0.5></progress>", ("<progress>", "<div>")),
    ],
)
def test_a_warning_names_what_is_ignored_and_what_to_write_instead(html: str, words: tuple[str, str]) -> None:
    (warning,) = render(html, 400, 300).warnings
    assert all(word in warning for word in words), warning


@pytest.mark.parametrize("tag", ["p", "h1", "blockquote", "ul"])
def test_default_margins_follow_the_font_size_of_the_style(tag: str) -> None:
    margin = 0.67 if tag == "h1" else 1
    written = f"margin-top:{margin}em;margin-bottom:{margin}em"
    assert drawn(f"<{tag} style='font-size:50px'>a</{tag}>b") == drawn(
        f"<{tag} style='font-size:50px;{written}'>a</{tag}>b"
    )


def test_default_spaces_are_on_the_side_where_the_direction_of_the_style_starts() -> None:
    assert drawn("<ul style='direction:rtl'><li>a</li></ul>") == drawn("<ul dir=rtl><li>a</li></ul>")


def test_only_links_with_a_url_are_blue_and_underlined() -> None:
    assert drawn("<a>Read</a>") == drawn("<span>Read</span>")
    linked = "<span style='color:#0000ee;text-decoration:underline'>Read</span>"
    assert drawn("<a href='#top'>Read</a>") == drawn(linked)


def test_a_warning_says_that_text_in_an_svg_is_not_drawn() -> None:
    (warning,) = render("<svg width='90' height='30'><text y='20'>Hi</text></svg>", 400, 300).warnings
    assert "paths" in warning
    assert "HTML" in warning


def test_a_warning_names_what_was_removed_from_an_svg() -> None:
    (warning,) = render("<svg width='90' height='30'><image href='https://a.b/c.png'/></svg>", 400, 300).warnings
    assert "<svg> is drawn without" in warning


def test_the_style_of_an_icon_causes_no_warning() -> None:
    icon = (
        "<svg style='fill:none;stroke:red;stroke-width:2' width='24' height='24'><circle cx='12' cy='12' r='9'/></svg>"
    )
    assert render(icon, 400, 300).warnings == ()


def test_classes_of_icons_cause_no_warning() -> None:
    icon = "<svg class='icon' width='24' height='24'><circle class='dot' cx='12' cy='12' r='9'/></svg>"
    assert render(icon, 400, 300).warnings == ()
