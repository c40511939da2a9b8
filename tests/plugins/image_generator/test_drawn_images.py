"""Images of every format in `<img>`, and malicious files."""

from __future__ import annotations

import base64
import io
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from PIL import Image
from pressroom.graphics import vectors
from pressroom_image_generator.engine import RenderedImage, render
from pressroom_image_generator.engine.notes import Notes
from pressroom_image_generator.engine.sources import Sources
from pressroom_image_generator.params import ImageParams
from pressroom_image_generator.preparation import RemoteImages, WorkerInput
from pressroom_image_generator.rendering import render as render_params

ADDRESS: Final = "https://example.com/a"
GREY: Final = (128, 128, 128, 64)
SVG: Final = '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100" viewBox="0 0 10 10">{}</svg>'
GREEN: Final = '<rect width="10" height="10" fill="#00ff00"/>'


def shown(content: bytes) -> RenderedImage:
    """Draw a fetched image on a canvas of 100 × 100 pixels."""
    html = f'<img src="{ADDRESS}" style="display:block;width:100px;height:100px">'
    return render(html, 100, 100, images={ADDRESS: content})


def svg(inner: str) -> RenderedImage:
    return shown(SVG.format(inner).encode())


def written(image: Image.Image, kind: str, **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_bomb(width: int, height: int) -> bytes:
    """Return a small PNG file that decodes to an image of this size."""
    rows = zlib.compressobj(9)
    data = b"".join(rows.compress(bytes(1 + width // 8)) for _ in range(height)) + rows.flush()
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def gif_of(width: int, height: int) -> bytes:
    """Return a GIF whose header claims this size."""
    content = bytearray(written(Image.new("P", (1, 1)), "GIF"))
    content[6:10] = struct.pack("<HH", width, height)
    return bytes(content)


def resized(content: bytes, marker: bytes, offset: int, replacement: bytes) -> bytes:
    position = content.index(marker) + offset
    return content[:position] + replacement + content[position + len(replacement) :]


def avif_of(width: int, height: int) -> bytes:
    """Return an AVIF whose image spatial extents (`ispe`) claim this size."""
    content = written(Image.new("RGB", (64, 64)), "AVIF")
    return resized(content, b"ispe", 8, struct.pack(">II", width, height))


RED_AND_BLUE: Final = [Image.new("RGB", (20, 20), color) for color in ("#ff0000", "#0000ff")]
KINDS: Final[dict[str, Callable[[Image.Image], bytes]]] = {
    "PNG": lambda image: written(image, "PNG"),
    "PNG of a palette": lambda image: written(image.convert("P"), "PNG"),
    "interlaced grey PNG": lambda image: written(image.convert("L"), "PNG"),
    "16-bit grey PNG": lambda image: written(Image.new("I;16", image.size, 128 * 257), "PNG"),
    "JPEG": lambda image: written(image, "JPEG", quality=95),
    "progressive CMYK JPEG": lambda image: written(image.convert("CMYK"), "JPEG", quality=95, progressive=True),
    "GIF": lambda image: written(image, "GIF"),
    "WebP": lambda image: written(image, "WEBP", quality=95),
    "lossless WebP": lambda image: written(image, "WEBP", lossless=True),
    "AVIF": lambda image: written(image, "AVIF", quality=95),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_image_is_drawn(kind: str) -> None:
    """Each image is drawn as a fetched file and as a `data:` URL with a wrong media type."""
    original = Image.new("RGB", (20, 20), "#808080")
    content = KINDS[kind](original)
    fetched = shown(content)
    embedded = base64.b64encode(content).decode()
    inline = render(
        f'<img src="data:image/png;base64,{embedded}" style="display:block;width:100px;height:100px">', 100, 100
    )
    assert fetched.warnings == inline.warnings == ()
    for rendering in (fetched, inline):
        colour = rendering.image.convert("RGB").getpixel((50, 50))
        assert all(abs(channel - 128) <= 6 for channel in colour)  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", ["PNG", "GIF", "WEBP", "AVIF"])
def test_the_first_frame_of_an_animated_image_is_drawn(kind: str) -> None:
    first, second = RED_AND_BLUE
    content = written(
        first,
        kind,
        save_all=True,
        append_images=[second],
        duration=100,
        **({"lossless": True} if kind == "WEBP" else {}),
    )
    red, green, blue = shown(content).image.convert("RGB").getpixel((50, 50))  # type: ignore[misc]
    assert (red > 240, green < 15, blue < 15) == (True, True, True)


@pytest.mark.parametrize(("mode", "colour"), [("RGBA", (0, 255, 0, 128)), ("LA", (200, 128))])
def test_transparency_is_preserved(mode: str, colour: tuple[int, ...]) -> None:
    image = shown(written(Image.new(mode, (20, 20), colour), "PNG")).image
    assert image.mode == "RGBA"
    assert abs(image.getpixel((50, 50))[3] - 128) <= 1  # type: ignore[index]


def test_the_exif_orientation_of_a_photograph_is_applied() -> None:
    """Cameras record their orientation in the file (Exif)."""
    image = Image.new("RGB", (40, 20), "#ff0000")
    image.paste("#0000ff", (0, 0, 20, 20))
    exif = Image.Exif()
    exif[0x0112] = 6
    upright = shown(written(image, "JPEG", exif=exif, quality=95)).image.convert("RGB")
    assert upright.getpixel((50, 10))[2] > 240  # type: ignore[index]
    assert upright.getpixel((50, 90))[0] > 240  # type: ignore[index]


BOMBS: Final[dict[str, Callable[[], bytes]]] = {
    "PNG": lambda: png_bomb(30_000, 30_000),
    "PNG of one row": lambda: png_bomb(2_000_000_000, 1),
    "GIF": lambda: gif_of(65_535, 65_535),
    "WebP": lambda: written(Image.new("RGB", (16_383, 2_000)), "WEBP", lossless=True, quality=0, method=0),
    "AVIF": lambda: avif_of(65_535, 65_535),
    "JPEG": lambda: resized(
        written(Image.new("RGB", (8, 8)), "JPEG"), b"\xff\xc0", 5, struct.pack(">HH", 65_500, 65_500)
    ),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_a_decompression_bomb_is_refused(kind: str) -> None:
    rendered = shown(BOMBS[kind]())
    assert len(rendered.warnings) == 1
    assert ADDRESS in rendered.warnings[0]
    assert rendered.image.getpixel((50, 50)) == GREY


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "interlaced grey PNG"])
def test_a_damaged_image_is_reported_or_drawn_in_part(kind: str) -> None:
    noise = Image.fromarray(np.random.default_rng(1).integers(0, 255, (60, 60, 3), dtype=np.uint8))
    content = KINDS[kind](noise)
    for part in (content[: len(content) // 2], content[:30], content[:-40] + bytes(40)):
        assert shown(part).image.size == (100, 100)
    assert ADDRESS in shown(content[:30]).warnings[0]


@pytest.mark.parametrize(
    "content",
    [
        written(Image.new("RGB", (9, 9)), "BMP"),
        written(Image.new("RGB", (9, 9)), "TIFF"),
        written(Image.new("RGB", (9, 9)), "ICO", sizes=[(9, 9)]),
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(/etc/passwd) run\n",
        b"P6 9 9 255 " + bytes(243),
        b"",
    ],
    ids=["BMP", "TIFF", "ICO", "EPS", "PPM", "nothing"],
)
def test_other_file_formats_are_not_decoded(content: bytes) -> None:
    assert "png, jpeg, gif, webp, avif and svg can" in shown(content).warnings[0]


def test_an_svg_runs_no_scripts_and_loads_nothing(tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    secret.write_bytes(written(Image.new("RGB", (10, 10), "#ff0000"), "PNG"))
    external = [
        f'<image width="10" height="10" href="{secret.as_uri()}"/>',
        f'<image width="10" height="10" xlink:href="{secret}" xmlns:xlink="http://www.w3.org/1999/xlink"/>',
        '<image width="10" height="10" href="https://example.com/b.png"/>',
        '<use href="https://example.com/c.svg#a"/>',
        '<style>@import "https://example.com/d.css"; rect { fill: url(https://example.com/e.svg#a) }</style>',
        '<script>document.write("x")</script><rect width="1" height="1" onload="x()" fill="#00ff00"/>',
        '<foreignObject width="10" height="10"><iframe xmlns="http://www.w3.org/1999/xhtml" src="file:///"/></foreignObject>',
        '<filter id="f"><feImage href="https://example.com/f.png"/></filter>',
    ]
    rendering = svg(GREEN + "".join(external))
    (warning,) = rendering.warnings
    assert "drawn without scripts" in warning
    assert rendering.image.convert("RGB").getcolors() == [(10_000, (0, 255, 0))]


ENTITIES: Final = {
    "a file": '<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    "an address": '<!DOCTYPE svg [<!ENTITY % x SYSTEM "https://example.com/x.dtd"> %x;]>',
    "a subset after a comment": "<!-- <!DOCTYPE svg> --><!DOCTYPE svg [<!ATTLIST rect fill CDATA 'red'>]>",
    "a subset after a literal": "<!DOCTYPE svg SYSTEM '>' [<!ATTLIST rect fill CDATA 'red'>]>",
    "many laughs": "<!DOCTYPE svg [<!ENTITY a 'ha'>" + "".join(
        f"<!ENTITY {chr(98 + n)} '{f'&{chr(97 + n)};' * 10}'>" for n in range(20)
    ) + "]>",
}  # fmt: skip


@pytest.mark.parametrize("what", ENTITIES)
def test_an_svg_with_entities_is_refused(what: str) -> None:
    rendering = shown((ENTITIES[what] + SVG.format("<text>&x;</text>")).encode())
    assert "declares entities" in rendering.warnings[0]
    assert rendering.image.getpixel((50, 50)) == GREY


def nested(tag: str, times: int) -> str:
    return f"<{tag}>" * times + GREEN + f"</{tag.partition(' ')[0]}>" * times


HARMFUL: Final = {
    "references to references": "".join(
        f'<g id="a{level}">' + f'<use href="#a{level + 1}"/>' * 10 + "</g>" for level in range(9)
    ) + '<g id="a9"><rect width="1" height="1"/></g>',
    "depth": nested("g", 5000),
    "elements": '<rect width="1" height="1"/>' * 30_000,
    "masks in masks": '<mask id="m"><rect width="10" height="10" fill="#fff"/></mask>' + nested(
        'g mask="url(#m)"', 150
    ),
    "large filters": (
        '<filter id="f" x="-9999%" y="-9999%" width="99999%" height="99999%">'
        + "<feDropShadow stdDeviation='9999'/><feTile/><feBlend mode='hue' in2='SourceGraphic'/>" * 20
        + f'</filter><g filter="url(#f)">{GREEN}</g>'
    ),
    "a large tile": (
        '<pattern id="p" width="9" height="9" patternUnits="userSpaceOnUse" patternTransform="scale(9999)">'
        f'{GREEN}</pattern><rect width="10" height="10" fill="url(#p)"/>'
    ),
    "dashes": '<circle r="9" stroke="red" stroke-width="3" stroke-dasharray="0.0001 0.0001"/>' * 15_000,
    "markers": (
        f'<marker id="m">{GREEN * 200}</marker><path marker-mid="url(#m)" d="M0 0' + "L1 1L2 3" * 20_000 + '"/>'
    ),
    "an image in it": '<image width="10" height="10" href="data:image/png;base64,PNG_BOMB"/>',
    "layers": f'<g opacity=".5">{GREEN}{GREEN}</g>' * 6000,
}  # fmt: skip


def harmful(kind: str) -> bytes:
    """Return an SVG that is harmful in the given way.

    A large embedded image is built here, which takes half a second.
    """
    drawing = HARMFUL[kind]
    if "PNG_BOMB" in drawing:
        drawing = drawing.replace("PNG_BOMB", base64.b64encode(png_bomb(32_000, 32_000)).decode())
    return SVG.format(drawing).encode()


_IN_BOUNDS: Final = """
import resource, sys
from pressroom.graphics import vectors
import test_drawn_images
vectors.MAX_SECONDS = 1
html = '<img src="https://example.com/a" style="display:block;width:1200px;height:630px">'
svg = test_drawn_images.harmful(sys.argv[1])
rendered = test_drawn_images.render(html, 1200, 630, images={test_drawn_images.ADDRESS: svg})
assert len(rendered.warnings) == 1 and test_drawn_images.ADDRESS in rendered.warnings[0], rendered.warnings
assert rendered.image.getpixel((600, 300)) == test_drawn_images.GREY
# `ru_maxrss` of a process counts what its parent had when it was forked, which is the whole test run.
status = open("/proc/self/status").read()
peaks = (int(status.partition("VmHWM:")[2].split()[0]), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
assert max(peaks) < 800 * 1024, peaks
for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
    used = resource.getrusage(who)
    assert used.ru_utime + used.ru_stime < 7, used
"""


@pytest.mark.parametrize("what", HARMFUL)
@pytest.mark.timeout(60)
def test_a_harmful_svg_ends_in_a_warning_within_its_resource_limits(what: str) -> None:
    """Runs in a separate process with limits on memory and time."""
    folder = str(Path(__file__).parent)
    code = f"import sys; sys.path.insert(0, {folder!r})\n{_IN_BOUNDS}"
    completed = subprocess.run([sys.executable, "-c", code, what], capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr[-2000:]


def test_huge_svg_dimensions_are_limited() -> None:
    content = SVG.format(GREEN).replace('width="100" height="100"', 'width="1e9" height="1e9"').encode()
    rendering = render(f'<img src="{ADDRESS}">', 300, 200, images={ADDRESS: content})
    assert rendering.image.convert("RGB").getcolors() == [(60_000, (0, 255, 0))]


@pytest.mark.parametrize("size", ['width="90" height="1e9"', 'width="1e9" height="1"', 'width="1e-9" height="1e9"'])
def test_an_extreme_svg_aspect_ratio_does_not_slow_rendering(size: str) -> None:
    html = f'<svg {size} style="width:0.5px">{GREEN}</svg><svg {size}>{GREEN}</svg>'
    assert render(html, 200, 200).image.size == (200, 200)


def test_an_svg_keeps_its_aspect_ratio_in_any_box() -> None:
    """Its `preserveAspectRatio` applies; an SVG without a `viewBox` is stretched."""
    boxed = SVG.format('<rect width="10" height="10" fill="#00ff00"/>').encode()
    stretched = boxed.replace(b' viewBox="0 0 10 10"', b"").replace(b'"10" height="10"', b'"100" height="100"')
    html = f'<img src="{ADDRESS}" style="display:block;width:200px;height:100px">'
    points = [(25, 50), (100, 50), (175, 50)]
    for content, alphas in ((boxed, [0, 255, 0]), (stretched, [255, 255, 255])):
        image = render(html, 200, 100, images={ADDRESS: content}).image.convert("RGBA")
        assert [image.getpixel(point)[3] for point in points] == alphas  # type: ignore[index]


def test_an_svg_with_filters_and_clip_paths_is_drawn() -> None:
    """Such SVGs are drawn in a process that is killed if it takes too long."""
    rendering = svg(
        '<defs><filter id="f"><feFlood flood-color="#00ff00"/></filter>'
        '<clipPath id="c"><rect width="5" height="10"/></clipPath></defs>'
        '<g clip-path="url(#c)"><rect width="10" height="10" filter="url(#f)"/></g>'
    )
    assert rendering.warnings == ()
    assert [rendering.image.convert("RGBA").getpixel((x, 50)) for x in (20, 80)] == [(0, 255, 0, 255), (0, 0, 0, 0)]


def test_svg_drawings_share_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "MAX_SECONDS", 1)
    costly = SVG.format(HARMFUL["masks in masks"]).replace('"100"', '"2400"')
    notes = Notes()
    sources = Sources({f"{ADDRESS}{number}": costly.encode() for number in range(5)}, notes)
    for number in range(5):
        source = sources.named(f"{ADDRESS}{number}")
        assert source is not None
        assert source.image(2400, 2400).getpixel((9, 9)) == GREY
    assert len(notes.warnings) == 5


@pytest.mark.parametrize("template", ["og", "square", "story", "twitter-header", "linkedin-banner"])
def test_a_template_omits_images_that_cannot_be_drawn(template: str) -> None:
    """This holds for fetched and embedded images."""
    props = {"title": "A title", "siteName": "example.com"}
    plain = render_params(ImageParams.model_validate({"template": template, "props": props}), WorkerInput())
    broken = {
        **props,
        "logoUrl": "data:image/png;base64,AAAA",
        "imageUrl": ADDRESS,
        "avatarUrl": "data:image/svg+xml,x",
    }
    fetched = WorkerInput(RemoteImages({ADDRESS: b"\x89PNG\r\n\x1a\nno more"}))
    rendering = render_params(ImageParams.model_validate({"template": template, "props": broken}), fetched)
    assert rendering.content == plain.content
    assert len(rendering.warnings) == 3
    assert all(warning.startswith("The image ") for warning in rendering.warnings)
