"""Rendered templates."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageChops
from pressroom.graphics.color import contrast, parse_color
from pressroom_image_generator.palette import MIN_CONTRAST, palette, photo_palette
from pressroom_image_generator.params import ImageParams
from pressroom_image_generator.plugin import PAGE
from pressroom_image_generator.preparation import WorkerInput
from pressroom_image_generator.rendering import render
from pressroom_image_generator.templates import BUILT_IN, THEMES
from support.sizes import examples

LONG = {
    "eyebrow": "A rather long eyebrow that takes nearly all sixty letters ok",
    "title": "An unreasonably detailed guide to the many ways in which headlines break " * 2,
    "subtitle": "With a subtitle that is far too long to be read by anybody who scrolls past. " * 3,
    "author": "Maximiliane Konstantinopolitanskaja-Featherstonehaugh the Younger",
    "siteName": "a-rather-long-domain-name.with-parts.example.org",
}
ONE_WORD = {"title": "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"}
HEBREW = {"title": "כותרת ארוכה מאוד שצריכה להישבר לכמה שורות בלי לגלוש", "subtitle": "משפט קצר", "author": "עדה"}
TEXTS = {"long": LONG, "one word": ONE_WORD, "right to left": HEBREW}

GREEN = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'%3E"
    "%3Crect width='9' height='9' fill='%2300ff00'/%3E%3C/svg%3E"
)
CHINESE = {"title": "我们从一年的小版本发布中学到了什么", "subtitle": "少一些意外", "author": "王小明"}
KOREAN = {"title": "작은 릴리스의 한 해가 우리에게 가르쳐 준 것들", "siteName": "예시.한국"}
JAPANESE = {"title": "長い題名は美しく折り返されなければならない。" * 9, "subtitle": "副題もまた長い。" * 30}

FREE = 0.04
"""The fraction of the shorter edge that stays free of text along each edge."""


def drawn(**body: Any) -> Image.Image:
    artifact = render(ImageParams.model_validate(body), WorkerInput())
    assert [warning for warning in artifact.warnings if not warning.startswith("props.items: ")] == []
    return Image.open(io.BytesIO(artifact.content)).convert("RGB")


def ink(image: Image.Image) -> np.ndarray[Any, Any]:
    """Return a mask of the non-white pixels of an image, without the mark at its upper edge."""
    red, green, blue = image.split()
    darkest = ImageChops.darker(ImageChops.darker(red, green), blue)
    mask = np.asarray(darkest) < 250
    mask[: round(min(image.size) * 0.03)] = False
    return mask


@pytest.mark.parametrize("align", ["left", "center"])
@pytest.mark.parametrize("texts", TEXTS)
@pytest.mark.parametrize("template", BUILT_IN)
def test_texts_do_not_touch_the_edges(template: str, texts: str, align: str) -> None:
    image = drawn(template=template, props={**TEXTS[texts], "theme": "minimal", "align": align})
    mask = ink(image)
    assert mask.any()
    margin = round(min(image.size) * FREE)
    for edge in (mask[:margin], mask[-margin:], mask[:, :margin], mask[:, -margin:]):
        assert not edge.any()


@pytest.mark.parametrize("images", [{}, {"imageUrl": GREEN}], ids=["without an image", "with an image"])
def test_story_texts_leave_room_for_app_buttons(images: dict[str, str]) -> None:
    mask = ink(drawn(template="story", props={**LONG, **images, "avatarUrl": GREEN, "theme": "minimal"}))
    assert mask.any()
    assert not mask[-340:].any()


@pytest.mark.parametrize("texts", [CHINESE, KOREAN, JAPANESE], ids=["Chinese", "Korean", "Japanese"])
@pytest.mark.parametrize("template", BUILT_IN)
def test_chinese_japanese_and_korean_work_with_the_extra(template: str, texts: dict[str, str]) -> None:
    props = {**texts, "title": texts["title"][:200], "theme": "minimal"}
    mask = ink(drawn(template=template, props=props))
    assert mask.any()
    for edge in (mask[-4:], mask[:, :4], mask[:, -4:]):
        assert not edge.any()


@pytest.mark.parametrize("only", ["imageUrl", "logoUrl", "avatarUrl"])
@pytest.mark.parametrize("template", BUILT_IN)
def test_a_single_image_is_the_whole_design(template: str, only: str) -> None:
    """A large image fills the design; a logo or an avatar is centred."""
    image = drawn(template=template, props={only: GREEN, "theme": "minimal"})
    red, green, blue = (np.asarray(band) for band in image.split())
    rows, columns = np.nonzero((red == 0) & (green == 255) & (blue == 0))
    if only == "imageUrl":
        assert len(rows) == image.width * image.height
    else:
        assert len(rows) > 0.05 * min(image.size) ** 2
        assert abs((columns.min() + columns.max()) / 2 - image.width / 2) <= 0.05 * image.width
        assert abs((rows.min() + rows.max()) / 2 - image.height / 2) <= 0.05 * image.height


def test_a_text_without_visible_characters_is_omitted() -> None:
    invisible = {"title": "\u200b\u2060 \u00ad", "subtitle": "Seen", "author": "\u200e"}
    assert drawn(template="og", props=invisible).tobytes() == drawn(template="og", props={"title": "Seen"}).tobytes()


@pytest.mark.parametrize("size", [(2400, 200), (200, 2400), (200, 200), (2400, 2400)])
@pytest.mark.parametrize("template", BUILT_IN)
def test_the_longest_texts_fit_any_size(template: str, size: tuple[int, int]) -> None:
    image = drawn(template=template, props={**LONG, "theme": "minimal"}, width=size[0], height=size[1])
    mask = ink(image)
    assert image.size == size
    for edge in (mask[-1:], mask[:, :1], mask[:, -1:]):
        assert not edge.any()


@pytest.mark.parametrize("template", BUILT_IN)
def test_a_right_to_left_title_starts_at_the_right(template: str) -> None:
    columns = np.flatnonzero(ink(drawn(template=template, props={**HEBREW, "theme": "minimal"})).any(axis=0))
    mirrored = np.flatnonzero(ink(drawn(template=template, props={"title": "A", "theme": "minimal"})).any(axis=0))
    width = BUILT_IN[template].width
    assert width - columns[-1] < width * 0.1
    assert mirrored[-1] < width * 0.5


@pytest.mark.parametrize("template", BUILT_IN)
def test_a_centred_text_is_in_the_middle(template: str) -> None:
    props = {"title": "Centred", "theme": "minimal", "align": "center"}
    columns = np.flatnonzero(ink(drawn(template=template, props=props)).any(axis=0))
    width = BUILT_IN[template].width
    assert abs((columns[0] + columns[-1]) / 2 - width / 2) < width * 0.01


@pytest.mark.parametrize("template", BUILT_IN)
def test_themes_and_accents_differ(template: str) -> None:
    props = {"title": "A title", "siteName": "example.com"}
    bodies = [{**props, "theme": theme, "accentColor": accent} for theme in THEMES for accent in ("#b9502a", "#2563eb")]
    images = {drawn(template=template, props=body, width=1000).tobytes() for body in bodies}
    assert len(images) == len(bodies)


def test_the_thumbnail_of_every_template_includes_its_photo() -> None:
    sample = PAGE.thumbnails["template"]
    images = [np.asarray(drawn(template=template, **sample)) for template in BUILT_IN]
    assert all((np.abs(image.astype(int) - (242, 185, 138)).max(axis=2) < 4).any() for image in images)
    assert len({image.tobytes() for image in images}) == len(BUILT_IN)


@settings(max_examples=examples(15))
@given(
    template=st.sampled_from(sorted(BUILT_IN)),
    theme=st.sampled_from(THEMES),
    title=st.text(max_size=200),
    subtitle=st.text(max_size=300),
    author=st.text(max_size=80),
)
def test_any_text_can_be_drawn(template: str, theme: str, title: str, subtitle: str, author: str) -> None:
    props = {"title": title, "subtitle": subtitle, "author": author, "theme": theme}
    body = {"template": template, "props": props, "width": 400, "height": 300}
    assert render(ImageParams.model_validate(body), WorkerInput()).content.startswith(b"\x89PNG")


HIEROGLYPHS = "\U00013000\U00013001"


def test_characters_missing_from_every_font_are_omitted_and_reported() -> None:
    props = {"title": f"Old {HIEROGLYPHS} signs", "subtitle": HIEROGLYPHS, "theme": "minimal"}
    artifact = render(ImageParams.model_validate({"template": "og", "props": props}), WorkerInput())
    plain = render(
        ImageParams.model_validate({"template": "og", "props": {"title": "Old signs", "theme": "minimal"}}),
        WorkerInput(),
    )
    assert artifact.content == plain.content
    lost = f'no font of this server has "{HIEROGLYPHS}"'
    end = "Its operator can add a font."
    assert artifact.warnings == (
        f"props.title: {lost}; they are left out. {end}",
        f"props.subtitle: {lost}; the whole text is left out. {end}",
    )


def test_a_table_is_drawn_with_a_warning() -> None:
    def warnings(html: str) -> tuple[str, ...]:
        return render(ImageParams.model_validate({"html": html}), WorkerInput()).warnings

    table = "<table><tr{}><td>Plan</td><td>Price</td></tr></table>"
    assert warnings(table.format("")) == (
        "<table>: rows and columns are not laid out, cells follow each other as text; use flex or grid.",
    )
    assert warnings(table.format(" style='display:flex'")) == ()


LISTS = {"changelog": 6, "comparison": 8, "hiring": 6, "job": 5, "stats": 4, "tutorial": 5}
"""The templates with a list, and the maximum number of items each shows."""


@pytest.mark.parametrize("template", LISTS)
def test_each_item_of_a_list_is_drawn(template: str) -> None:
    """Each additional item changes the image, up to the template's maximum."""
    items = [f"{number} item" for number in range(1, 9)]
    props = {"title": "A title", "theme": "minimal"}
    images = [drawn(template=template, props={**props, "items": items[:count]}).tobytes() for count in range(9)]
    assert len(set(images)) == LISTS[template] + 1
    assert len(set(images[LISTS[template] :])) == 1


@pytest.mark.parametrize("template", LISTS)
def test_items_that_are_left_out_are_counted(template: str) -> None:
    def warnings(count: int, item: str = "x") -> tuple[str, ...]:
        props = {"title": "A title", "items": [item] * count}
        return render(ImageParams.model_validate({"template": template, "props": props}), WorkerInput()).warnings

    most = LISTS[template]
    assert warnings(most) == ()
    if most < 8:
        assert warnings(most + 1) == (f"props.items: 1 of {most + 1} is left out; this template shows no more.",)
        assert warnings(8) == (f"props.items: {8 - most} of 8 are left out; this template shows no more.",)
    if template == "job":
        assert warnings(3, "A benefit of which there is a lot to say, so that it takes most of the line") == (
            "props.items: 2 of 3 are left out; this template shows no more.",
        )


@pytest.mark.parametrize(
    "items", [["W" * 80] * 8, ["\u05d0\u05d1\u05d2 " * 20] * 8, ["\u6771\u4eac" * 40] * 8, [" "], ["\u200b", "x"]]
)
@pytest.mark.parametrize("template", LISTS)
def test_list_items_do_not_touch_the_edges(template: str, items: list[str]) -> None:
    for size in ({}, {"width": 400, "height": 900}, {"width": 900, "height": 220}):
        props = {
            **LONG,
            "subtitle": LONG["subtitle"][:300],
            "title": LONG["title"][:200],
            "items": items,
            "theme": "minimal",
        }
        mask = ink(drawn(template=template, props=props, **size))
        for edge in (mask[-3:], mask[:, :3], mask[:, -3:]):
            assert not edge.any()


@pytest.mark.parametrize("background", ["#000000", "#ffffff", "#777777", "#0b1f3a", "#ffe08a", "#ff000080"])
@pytest.mark.parametrize("theme", THEMES)
def test_texts_are_legible_on_a_brand_background(background: str, theme: str) -> None:
    colors = palette(theme, "#b9502a", background)
    for ink_color in (colors.text, colors.muted, colors.accent_text):
        for ground in (colors.ground, colors.shape):
            assert contrast(parse_color(ink_color), parse_color(ground)) >= MIN_CONTRAST


@pytest.mark.parametrize("photo", [0, 255], ids=["black", "white"])
@pytest.mark.parametrize("background", [None, "#777777", "#ffe08a"])
@pytest.mark.parametrize("theme", THEMES)
def test_texts_are_legible_on_any_photo(theme: str, background: str | None, photo: int) -> None:
    """Where the text begins, the shade covers 62 % of the photo, and a brand's lighter shade 82 %."""
    colors = photo_palette(theme, "#f59e0b", background)
    part = 0xD0 if theme in ("gradient", "bold") or background else 0x9E
    mixed = [round(photo + (channel - photo) * part / 255) for channel in parse_color(colors.ground).rgba8[:3]]
    ground = parse_color("#{:02x}{:02x}{:02x}".format(*mixed))
    assert contrast(parse_color(colors.text), ground) >= MIN_CONTRAST
