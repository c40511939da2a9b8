"""The cards, rendered by our engine and, for comparison, by satori with resvg."""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import tinycss2
import uharfbuzz as hb
from PIL import Image
from pressroom.graphics.png import encode_png
from pressroom.graphics.text import Face, default_library
from pressroom_image_generator.engine import render
from pressroom_image_generator.engine.notes import Notes
from pressroom_image_generator.engine.parse import Element, parse_html
from support.downloads import npm_packages
from support.needs import program

HERE: Final = Path(__file__).parent
CARDS: Final = HERE.parents[1] / "plugins" / "image_generator" / "engine" / "cards"
WIDTH, HEIGHT = 1200, 630
ROUNDS: Final = 9
PEER_ROUNDS: Final = 5
"""Fewer rounds, because satori takes more than a second for some cards."""


@dataclass(frozen=True)
class Drawn:
    """A rendered card, and the CPU milliseconds of a warm render including PNG encoding."""

    image: Image.Image
    cost: float


def cpu(call: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """Return the median CPU time of a warm call, in milliseconds."""
    call()
    figures = []
    for _ in range(rounds):
        began = time.process_time()
        call()
        figures.append((time.process_time() - began) * 1000)
    return statistics.median(figures)


@pytest.fixture(scope="session")
def one_core() -> Iterator[None]:
    """Pin this process and its children to one core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    yield
    os.sched_setaffinity(0, cores)


@pytest.fixture(scope="session")
def cards() -> dict[str, str]:
    """Return the realistic cards by name."""
    return {path.stem: path.read_text("utf-8") for path in sorted(CARDS.glob("*.html"))}


@pytest.fixture(scope="session")
def ours(cards: Mapping[str, str], one_core: None) -> dict[str, Drawn]:
    """Return the cards as rendered by our engine."""
    drawn = {}
    for name, html in cards.items():
        image = render(html, WIDTH, HEIGHT).image

        def whole(html: str = html) -> bytes:
            return encode_png(render(html, WIDTH, HEIGHT).image)

        drawn[name] = Drawn(_on_white(image), cpu(whole))
    return drawn


@pytest.fixture(scope="session")
def satoris(
    cards: Mapping[str, str], npm_modules: Path, tmp_path_factory: pytest.TempPathFactory, one_core: None
) -> dict[str, Drawn]:
    """Return the cards as rendered by satori and resvg."""
    folder = tmp_path_factory.mktemp("satori")
    fonts: dict[str, Any] = {}
    trees = {name: _tree(parse_html(html, Notes()), fonts, folder) for name, html in cards.items()}
    order = {
        "modules": str(npm_modules), "folder": str(folder), "fonts": list(fonts.values()), "cards": trees,
        "width": WIDTH, "height": HEIGHT, "rounds": PEER_ROUNDS,
    }  # fmt: skip
    command = [program("node"), str(HERE / "npm_pipeline.js")]
    done = subprocess.run(command, input=json.dumps(order), capture_output=True, text=True, timeout=550, check=False)
    assert not done.returncode, done.stderr
    figures: dict[str, list[float]] = json.loads(done.stdout)
    return {
        name: Drawn(_on_white(Image.open(folder / f"{name}.png")), statistics.median(costs))
        for name, costs in figures.items()
    }


@pytest.fixture(scope="session")
def npm_modules() -> Path:
    """Return the folder of the npm packages, installing them if missing."""
    return npm_packages("image-generator-peers", HERE / "package.json")


def _on_white(image: Image.Image) -> Image.Image:
    ground = Image.new("RGBA", image.size, "white")
    ground.alpha_composite(image.convert("RGBA"))
    return ground.convert("RGB")


@dataclass(frozen=True)
class _Text:
    """The inherited properties that determine the font file."""

    families: tuple[str, ...] = ("Inter",)
    size: float = 16.0
    weight: int = 400
    style: str = "normal"


_OWN_SIZES: Final = {"h1": "2em", "code": "0.8125em", "pre": "0.8125em"}


def _tree(element: Element, fonts: dict[str, Any], folder: Path, text: _Text | None = None) -> dict[str, Any]:
    """Convert an element to satori's input format.

    Satori reads static fonts only and ignores optical sizes, so each element names the instance of our variable fonts
    that a browser would choose.
    """
    whole = text is None
    styles = _declarations(element.attributes.get("style", ""))
    text = _resolved(element.tag, text or _Text(), styles)
    if whole:
        styles |= {"display": "block", "width": "100%", "height": "100%"}
    styles.setdefault("boxSizing", "border-box")
    styles["fontFamily"] = ", ".join(_instances(text, fonts, folder))
    styles["fontSize"] = text.size
    children = [
        child if isinstance(child, str) else _tree(child, fonts, folder, text)
        for child in element.children
        if not isinstance(child, str) or child.strip() or element.tag in ("p", "pre", "span", "code", "b", "i")
    ]
    return {"type": "div" if whole else element.tag, "props": {"style": styles, "children": children}}


def _declarations(style: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for node in tinycss2.parse_blocks_contents(style, skip_comments=True, skip_whitespace=True):
        name = re.sub("-([a-z])", lambda letter: letter[1].upper(), node.lower_name.replace("-webkit-", "Webkit-"))
        found[name] = tinycss2.serialize(node.value).strip()
    return found


def _resolved(tag: str, text: _Text, styles: Mapping[str, str]) -> _Text:
    size = styles.get("fontSize", "" if "fontFamily" in styles else _OWN_SIZES.get(tag, ""))
    factor = 1.0 if size.endswith("px") else text.size
    mono = ("JetBrains Mono",) if tag in ("code", "pre") else text.families
    families = tuple(one.strip(" '\"") for one in styles["fontFamily"].split(",")) if "fontFamily" in styles else mono
    bold = 700 if tag in ("b", "strong", "h1") else text.weight
    return _Text(
        families,
        float(size.removesuffix("px").removesuffix("em")) * factor if size else text.size,
        int({"bold": "700", "normal": "400"}.get(styles.get("fontWeight", ""), styles.get("fontWeight", bold))),
        styles.get("fontStyle", "italic" if tag in ("i", "em") else text.style),
    )


def _instances(text: _Text, fonts: dict[str, Any], folder: Path) -> Iterator[str]:
    """Yield the family names, each with a static font file generated for it."""
    for family in text.families:
        faces = default_library().of_family(family)
        if not faces:
            continue
        italic = text.style == "italic"
        face = next((one for one in faces if one.italic == italic), faces[0])
        low, high = face.optical_sizes or (0.0, 0.0)
        cut = min(max(text.size, low), high)
        name = f"{face.family.replace(' ', '')}{f'at{cut:g}'.replace('.', 'p')}"
        key = f"{name}-{text.weight}-{text.style}"
        if key not in fonts:
            file = folder / f"{key}.ttf"
            file.write_bytes(_static(face, text.weight, cut))
            fonts[key] = {"file": str(file), "name": name, "weight": text.weight, "style": text.style}
        yield name


def _static(face: Face, weight: float, cut: float) -> bytes:
    """Return one static instance of a variable font."""
    whole = hb.Face(hb.Blob.from_file_path(str(face.path)))
    order = hb.SubsetInput()
    order.keep_everything()
    order.pin_all_axes_to_default(whole)
    order.pin_axis_location(whole, "wght", min(max(weight, face.weights[0]), face.weights[1]))
    if face.optical_sizes:
        order.pin_axis_location(whole, "opsz", cut)
    return bytes(order.subset(whole).blob.data)
