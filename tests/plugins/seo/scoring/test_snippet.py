"""Search result previews."""

from __future__ import annotations

import pytest
from PIL import ImageFont
from pressroom_seo.scoring import pixel_width, preview_snippet
from pressroom_seo.scoring.snippet import displayed_url
from support.needs import missing_package

TITLE = "Sourdough starter: how to make one in seven days"
DESCRIPTION = "Make a sourdough starter from flour and water in seven days: feeding, the float test, and more. " * 3


@pytest.mark.parametrize(
    ("text", "units"),
    [("a", 1139), ("i", 455), ("W", 1933), (" ", 569), ("0", 1139), ("ä", 1139), ("я", 1109), ("한", 2048)],
)  # fmt: skip
def test_widths_are_those_of_arial(text: str, units: int) -> None:
    assert pixel_width(text, 2048) == units


def test_marks_and_joiners_have_no_width() -> None:
    assert pixel_width("e\u0301", 20) == pixel_width("e", 20)
    assert pixel_width("👍", 20) == 20
    assert pixel_width("a\u200bb\u00ad", 20) == pixel_width("ab", 20)


def test_widths_agree_with_a_font_of_arials_metrics() -> None:
    path = "LiberationSans-Regular.ttf"
    try:
        font = ImageFont.truetype(path, 2048, layout_engine=ImageFont.Layout.BASIC)
    except OSError:
        missing_package("fonts-liberation", "Liberation Sans")
    for text in (TITLE, "ÀÉÎÕÜ ßøłđ", "Ωμέγα", "Хлеб", "“quoted” – dash… €5"):  # noqa: RUF001
        assert pixel_width(text, 2048) == pytest.approx(sum(font.getlength(letter) for letter in text), abs=len(text))


def test_a_title_that_fits_is_not_truncated() -> None:
    preview = preview_snippet(TITLE, "x" * 140, "https://example.com/blog/sourdough-starter")
    assert preview.desktop.title.text == TITLE
    assert not preview.desktop.title.truncated
    assert preview.desktop.url.text == "https://example.com › blog › sourdough-starter"  # noqa: RUF001
    assert preview.warnings == ()


def test_text_that_is_too_wide_is_truncated_between_words_and_reported() -> None:
    preview = preview_snippet(f"{TITLE}, with a table of flours and a plan for every day", DESCRIPTION, "https://e.com")
    title = preview.desktop.title
    assert title.truncated
    assert title.text.endswith(" ...")
    assert pixel_width(title.text, 20) <= 600
    assert f"{title.text.removesuffix(' ...')} {title.cut}".split() == (
        f"{TITLE}, with a table of flours and a plan for every day".split()
    )
    assert pixel_width(preview.mobile.description.text, 14) <= 740
    assert len(preview.mobile.description.text) < len(preview.desktop.description.text)
    assert preview.warnings[0].startswith("title: is ")
    assert preview.warnings[1].startswith("description: is ")


def test_phones_truncate_most_descriptions_which_is_shown_without_a_warning() -> None:
    preview = preview_snippet(TITLE, "Bread and salt. " * 9, "https://e.com")
    assert not preview.desktop.description.truncated
    assert preview.mobile.description.truncated
    assert preview.warnings == ()


@pytest.mark.parametrize("letter", ["蜂", "벌", "蜜"])
def test_a_description_of_wide_letters_fits_with_half_as_many(letter: str) -> None:
    assert preview_snippet(TITLE, letter * 65, "https://example.com/").warnings == ()
    (warning,) = preview_snippet(TITLE, letter * 50, "https://example.com/").warnings
    assert "only 50 characters; up to 78" in warning


def test_missing_parts_are_reported() -> None:
    warnings = preview_snippet("").warnings
    assert [warning.partition(":")[0] for warning in warnings] == ["title", "description", "url"]


def test_words_longer_than_the_line_are_truncated_inside() -> None:
    assert pixel_width(preview_snippet("W" * 100).desktop.title.text, 20) <= 600
    assert preview_snippet("字" * 100).desktop.title.text.startswith("字" * 20)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.com", "https://example.com"),
        ("https://user:secret@example.com/a%20b/", "https://example.com › a b"),  # noqa: RUF001
        ("https://example.com/%E3%83%91%E3%83%B3?q=1", "https://example.com › パン"),  # noqa: RUF001
        ("/blog/a", "blog › a"),  # noqa: RUF001
        ("http://[", ""),
    ],
)
def test_a_url_is_shown_as_a_breadcrumb(url: str, shown: str) -> None:
    assert displayed_url(url) == shown
