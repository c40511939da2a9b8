"""The CSS reference of the image generator: every property, with images rendered by the engine."""

from __future__ import annotations

import os

import numpy as np
import pytest
from pressroom_image_generator import engine
from pressroom_image_generator.engine.properties import PROPERTIES
from pressroom_image_generator.engine.shorthands import SHORTHANDS
from support.css_images import page_part, pixels, svg_image
from support.css_reference import Entry
from support.css_reference_paint import GROUPS
from support.doc_examples import DOCS

PAGE = DOCS / "reference/generators/image-css.md"
IMAGES = DOCS / "images/css"
ENTRIES = [entry for group in GROUPS for entry in group.entries]


def test_every_property_and_shorthand_has_a_row() -> None:
    names = [name for entry in ENTRIES for name in entry.names.split()]
    assert sorted(names) == sorted({*PROPERTIES, *SHORTHANDS})


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_every_value_of_a_row_is_supported(entry: Entry) -> None:
    first = entry.names.split()[0]
    for value in entry.values:
        warnings = engine.render(f'<div style="{first}:{value}">Text</div>', 200, 200).warnings
        assert warnings == (), f"{first}: {value}"


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_an_image_matches_the_engines_output(entry: Entry) -> None:
    """Images match, apart from rounding: other versions of fonts and libraries move an edge by part of a pixel."""
    file = IMAGES / f"{entry.id}.svg"
    svg = svg_image(entry)
    if os.environ.get("PRESSROOM_TEST_UPDATE"):
        file.write_text(svg)
    stored, expected = pixels(file.read_text()), pixels(svg)
    assert stored.shape == expected.shape
    assert np.abs(stored - expected).mean() < 1.5, f"{entry.names}: draw it anew with PRESSROOM_TEST_UPDATE=1"


def test_every_image_belongs_to_a_row_and_is_unique() -> None:
    contents = {file.stem: file.read_text() for file in IMAGES.glob("*.svg")}
    assert sorted(contents) == sorted(entry.id for entry in ENTRIES)
    assert len(set(contents.values())) == len(contents)


def test_the_total_size_of_the_images_is_small() -> None:
    assert sum(file.stat().st_size for file in IMAGES.glob("*.svg")) < 300_000


def test_the_page_is_up_to_date() -> None:
    text = PAGE.read_text()
    begin, end = "<!-- begin properties -->\n", "<!-- end properties -->"
    before, _, rest = text.partition(begin)
    part, end_marker, after = rest.partition(end)
    assert end_marker
    expected = f"\n{page_part().strip()}\n\n"
    if os.environ.get("PRESSROOM_TEST_UPDATE"):
        PAGE.write_text(before + begin + expected + end + after)
    else:
        assert part == expected, "render it anew with PRESSROOM_TEST_UPDATE=1"
