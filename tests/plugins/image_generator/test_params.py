"""Parameters: bounds, defaults and error messages."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.sdk import InvalidInput
from pressroom.validation.messages import input_error
from pressroom_image_generator.params import ImageParams
from pressroom_image_generator.templates import BUILT_IN, MAX_EDGE, MIN_EDGE, Size, computed_size
from pydantic import ValidationError

HTML = {"html": "<p>a</p>"}
OG = {"template": "og"}


def refusal(body: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as exc_info:
        ImageParams.model_validate(body)
    return input_error(exc_info.value, ImageParams).message


def size(body: dict[str, Any]) -> tuple[int | None, int | None]:
    params = ImageParams.model_validate(body)
    return params.width, params.height


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "html: is missing; give html, or template with one of og, twitter-header, linkedin-banner, square, story"),
        (HTML | OG, "template: give either html or template, not both"),
        (HTML | {"props": {}}, "props: only goes with template; html has its texts in itself"),
        (HTML | {"height": 300, "aspectRatio": "1:1"}, "aspectRatio: give either height or aspectRatio, not both"),
        (HTML | {"width": 199}, "width: must be between 200 and 2400 (got 199)"),
        (HTML | {"width": 9000}, "width: must be between 200 and 2400 (got 9000)"),
        (HTML | {"height": 2401}, "height: must be between 200 and 2400 (got 2401)"),
        (HTML | {"width": "300"}, 'width: must be a whole number (got the string "300")'),
        (HTML | {"width": 300.5}, "width: must be a whole number (got 300.5)"),
        (HTML | {"aspectRatio": "1:9"}, "makes a height of 10800 at a width of 1200; it must be between 200 and 2400"),
        (HTML | {"width": 300}, "width: makes a height of 158 at a width of 300; it must be between 200 and 2400"),
        ({"template": "story", "width": 2400}, "width: makes a height of 4267 at a width of 2400"),
        (HTML | {"aspectRatio": "16/9"}, "must be two numbers above 0 as W:H, such as 16:9 or 1.91:1 (got"),
        (HTML | {"aspectRatio": "0:9"}, "must be two numbers above 0"),
        (HTML | {"aspectRatio": "1e3:9"}, "must be two numbers above 0"),
        (HTML | {"aspectRatio": "\uff11\uff16:9"}, "must be two numbers above 0"),
        (HTML | {"format": "gif"}, 'format: must be one of png, jpeg (got "gif")'),
        ({"html": "a" * 10_001}, "html: must be between 1 and 10000 characters (got 10001)"),
        ({"html": ""}, "html: must be between 1 and 10000 characters"),
        (HTML | {"fomat": "png"}, "fomat: unknown field; did you mean format?"),
        ({"template": "../og"}, "template: must be one of og, twitter-header, linkedin-banner, square, story"),
        (OG | {"props": {"titel": "a"}}, "props.titel: unknown field; did you mean title?"),
        (OG | {"props": {"site_name": "a"}}, "props.site_name: unknown field; did you mean siteName?"),
        (OG | {"props": {"theme": "drak"}}, "did you mean dark?"),
        (OG | {"props": {"align": "right"}}, "props.align: must be one of left, center"),
        (OG | {"props": {"accentColor": "red"}}, "props.accentColor: must be a hex colour such as"),
        (OG | {"props": {"logoUrl": "http://example.com/a.png"}}, "props.logoUrl: must begin with https:// or data:im"),
        (OG | {"props": {"imageUrl": "data:text/html,a"}}, "props.imageUrl: must begin with https:// or data:image/"),
        (OG | {"props": {"avatarUrl": "https://a/" + "a" * 2048}}, "props.avatarUrl: must be at most 2048 characters"),
        (OG | {"props": "title"}, "props: must be an object"),
    ],
)
def test_problems_are_reported(body: dict[str, Any], message: str) -> None:
    assert message in refusal(body)


@pytest.mark.parametrize(
    ("prop", "most"), [("title", 200), ("subtitle", 300), ("eyebrow", 60), ("author", 80), ("siteName", 60)]
)
def test_a_text_has_a_maximum_length(prop: str, most: int) -> None:
    ImageParams.model_validate(OG | {"props": {prop: "a" * most}})
    assert f"props.{prop}: must be at most {most} characters (got {most + 1})" in refusal(
        OG | {"props": {prop: "a" * (most + 1)}}
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (HTML, (1200, 630)),
        (HTML | {"width": 800}, (800, 420)),
        (HTML | {"width": 801.0}, (801, 421)),
        (HTML | {"height": 400}, (1200, 400)),
        (HTML | {"aspectRatio": "16:9"}, (1200, 675)),
        (HTML | {"aspectRatio": "1.91:1"}, (1200, 628)),
        (HTML | {"width": 201, "aspectRatio": "2:2"}, (201, 201)),
        (HTML | {"width": 405, "aspectRatio": "2:1"}, (405, 203)),
        ({"template": "og"}, (1200, 630)),
        ({"template": "twitter-header"}, (1500, 500)),
        ({"template": "linkedin-banner"}, (1584, 396)),
        ({"template": "square"}, (1080, 1080)),
        ({"template": "story"}, (1080, 1920)),
        ({"template": "story", "width": 540}, (540, 960)),
        ({"template": "square", "height": 500}, (1080, 500)),
        ({"template": "square", "aspectRatio": "2:1"}, (1080, 540)),
    ],
)
def test_the_size_is_derived_from_the_parameters(body: dict[str, Any], expected: tuple[int, int]) -> None:
    assert size(body) == expected


@pytest.mark.parametrize(
    ("short", "spelled_out"),
    [
        (HTML, HTML | {"width": 1200, "height": 630, "format": "png"}),
        (HTML, HTML | {"aspectRatio": "40:21"}),
        (OG, OG | {"props": {}, "width": 1200}),
        (OG, OG | {"props": {"theme": "light", "accentColor": "B9502A", "title": "  "}}),
    ],
)
def test_explicit_defaults_are_the_same_image(short: dict[str, Any], spelled_out: dict[str, Any]) -> None:
    assert ImageParams.model_validate(short).model_dump() == ImageParams.model_validate(spelled_out).model_dump()


@given(
    width=st.integers(MIN_EDGE, MAX_EDGE),
    across=st.decimals("0.0001", "99999", places=4),
    down=st.decimals("0.0001", "99999", places=4),
)
def test_a_computed_height_is_rounded_half_up_or_refused(width: int, across: Decimal, down: Decimal) -> None:
    exact = width * down / across
    height = int(exact.quantize(Decimal(1), ROUND_HALF_UP))
    ratio = f"{across}:{down}"
    if MIN_EDGE <= height <= MAX_EDGE:
        assert computed_size(width, None, ratio, Size(1, 1)) == (width, height)
        assert size(HTML | {"width": width, "aspectRatio": ratio}) == (width, height)
    else:
        with pytest.raises(InvalidInput, match=f"makes a height of {height} at a width of {width}"):
            computed_size(width, None, ratio, Size(1, 1))


@given(width=st.integers(MIN_EDGE, MAX_EDGE), template=st.sampled_from(sorted(BUILT_IN)))
def test_the_width_alone_scales_a_template(width: int, template: str) -> None:
    natural = BUILT_IN[template]
    wanted = width * natural.height / natural.width
    try:
        params = ImageParams.model_validate({"template": template, "width": width})
    except ValidationError:
        assert not MIN_EDGE <= wanted < MAX_EDGE + 0.5
    else:
        assert params.height is not None
        assert abs(params.height - wanted) <= 0.5


def test_an_unknown_template_may_come_from_a_plugin() -> None:
    params = ImageParams.model_validate({"template": "poster", "aspectRatio": "1:1"})
    assert (params.width, params.height, params.aspectRatio) == (None, None, "1:1")
