"""Colours: compositing, and pairs that cause a warning."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom_qr_code_generator.svg import WHITE, Rgba, contrast_warnings

BLACK = Rgba(0, 0, 0)
CHANNEL = st.integers(0, 255)
ANY = st.tuples(CHANNEL, CHANNEL, CHANNEL, CHANNEL).map(Rgba._make)
OPAQUE = ANY.map(lambda color: color._replace(alpha=255))


def test_a_colour_is_parsed_with_and_without_alpha() -> None:
    assert Rgba.parse("#0a141e") == (10, 20, 30, 255)
    assert Rgba.parse("#0a141e28") == (10, 20, 30, 40)


@given(ANY, OPAQUE)
def test_over_an_opaque_colour_everything_is_opaque(above: Rgba, below: Rgba) -> None:
    seen = above.over(below)
    assert seen.alpha == 255
    for channel in range(3):
        share = above.alpha / 255
        assert seen[channel] == pytest.approx(above[channel] * share + below[channel] * (1 - share), abs=0.51)


@given(OPAQUE, ANY)
def test_an_opaque_colour_hides_what_is_below(above: Rgba, below: Rgba) -> None:
    assert above.over(below) == above


@given(ANY)
def test_what_is_transparent_changes_nothing(below: Rgba) -> None:
    assert Rgba(9, 9, 9, 0).over(below) == below


@pytest.mark.parametrize(
    ("foreground", "background", "expected"),
    [
        ("#000000", "#ffffff", []),
        ("#949494", "#ffffff", []),
        ("#959595", "#ffffff", ["The contrast of fgColor and bgColor is 2.9:1;"]),
        ("#ffffff", "#ffffff", ["The contrast of fgColor and bgColor is 1.0:1;"]),
        ("#ffffff", "#000000", ["fgColor is lighter than bgColor;"]),
        ("#eeeeee", "#dddddd", ["The contrast of fgColor and bgColor is 1.1:1;", "fgColor is lighter than bgColor;"]),
        ("#000000", "#ffffff00", []),
        (
            "#eeeeee",
            "#00000000",
            ["The contrast of fgColor and bgColor is 1.1:1 on a white page;"],
        ),
        ("#00000010", "#ffffff", ["The contrast of fgColor and bgColor is 1.1:1;"]),
    ],
)
def test_colour_pairs_that_many_readers_cannot_scan_cause_a_warning(
    foreground: str, background: str, expected: list[str]
) -> None:
    warnings = contrast_warnings(Rgba.parse(foreground), Rgba.parse(background))
    assert [warning.partition(";")[0] + ";" for warning in warnings] == expected


def test_luminance_spans_black_to_white() -> None:
    assert BLACK.luminance == 0
    assert WHITE.luminance == pytest.approx(1)
