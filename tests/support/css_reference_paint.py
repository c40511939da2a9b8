"""The parts of the CSS reference about backgrounds, borders and effects, and the ordered list of all parts."""

from __future__ import annotations

import base64
import io
from typing import Final

from PIL import Image, ImageColor

from support.css_reference import (
    BLUE,
    BOXES,
    FLEX,
    GOLD,
    GREEN,
    GRID,
    PHOTO,
    RED,
    SIZES,
    STRIPES,
    SUNSET,
    Entry,
    Group,
    box,
    circle,
    flexed,
    frame,
    panel,
    words,
)
from support.css_reference_text import DECORATION, FONTS, TEXT

BACKGROUNDS: Final = Group(
    "backgrounds",
    "Backgrounds",
    "Images in styles are gradients or `data:` URLs. Separate several layers with commas; the first one is on top.",
    (
        Entry(
            "background",
            (
                "#b9502a",
                "linear-gradient(135deg, #b9502a, #3b2a5a)",
                "#fff radial-gradient(circle at 30% 30%, gold, tomato) no-repeat",
            ),
            panel(
                "border-radius:12px;background:radial-gradient(circle at 80% 10%,#e0a458aa,transparent 60%),"
                "linear-gradient(135deg,#b9502a,#3b2a5a)"
            ),
        ),
        Entry("background-color", ("#b9502a", "transparent"), panel("border-radius:12px;background-color:#2f6f62")),
        Entry(
            "background-image",
            (
                "linear-gradient(90deg, red 0 20%, blue)",
                "repeating-linear-gradient(45deg, red 0 4px, blue 4px 8px)",
                "radial-gradient(circle, red, blue)",
                "conic-gradient(from 45deg, red, blue, red)",
                "none",
            ),
            panel(
                "border-radius:12px;background-image:conic-gradient(from 45deg,#b9502a,#e0a458,#2f6f62,#3f5f8f,#b9502a)"
            ),
            "Gradients may interpolate `in oklch` and in the other colour spaces of CSS Color 4.",
        ),
        Entry(
            "background-size",
            ("40px 40px", "50% auto", "cover", "contain", "auto"),
            panel(f"border-radius:12px;background-image:url(&quot;{PHOTO}&quot;);background-size:66px"),
        ),
        Entry(
            "background-position",
            ("center", "right 20px bottom 10px", "25% 75%", "left top"),
            panel(
                f"border-radius:12px;background:#e7e0d5 url(&quot;{PHOTO}&quot;) no-repeat;background-size:80px;"
                "background-position:right 12px bottom 12px"
            ),
        ),
        Entry(
            "background-repeat",
            ("repeat", "no-repeat", "repeat-x", "repeat-y", "round", "space"),
            panel(
                f"border-radius:12px;background:#e7e0d5 url(&quot;{PHOTO}&quot;);background-size:60px;"
                "background-repeat:repeat-x"
            ),
        ),
        Entry(
            "background-origin",
            ("padding-box", "border-box", "content-box"),
            panel(
                f"border:10px dashed #1d1a1777;padding:10px;background:url(&quot;{PHOTO}&quot;) no-repeat;"
                "background-size:60px;background-origin:content-box"
            ),
        ),
        Entry(
            "background-clip -webkit-background-clip",
            ("border-box", "padding-box", "content-box", "text"),
            words(
                f"background:{SUNSET};background-clip:text;color:transparent;font-weight:800;font-size:48px", "Gradient"
            ),
        ),
    ),
)

BORDERS: Final = Group(
    "borders",
    "Borders, outlines and shadows",
    "",
    (
        Entry(
            "border border-top border-right border-bottom border-left border-block-start border-block-end "
            "border-inline-start border-inline-end",
            ("2px solid #b9502a", "1px dashed", "none"),
            panel("border:4px solid #b9502a;border-left:24px solid #2f6f62"),
        ),
        Entry(
            "border-width border-top-width border-right-width border-bottom-width border-left-width",
            ("2px", "1px 8px", "thin", "thick"),
            panel("border:solid #b9502a;border-width:2px 6px 12px 20px"),
        ),
        Entry(
            "border-style border-top-style border-right-style border-bottom-style border-left-style",
            ("solid", "dashed", "dotted", "double", "groove", "ridge", "inset", "outset", "none", "hidden"),
            panel("border:6px #b9502a;border-style:solid dashed dotted double"),
        ),
        Entry(
            "border-color border-top-color border-right-color border-bottom-color border-left-color",
            ("#b9502a", "red green blue gold"),
            panel("border:12px solid;border-color:#b9502a #2f6f62 #e0a458 #3f5f8f"),
        ),
        Entry(
            "border-radius border-top-left-radius border-top-right-radius border-bottom-right-radius "
            "border-bottom-left-radius",
            ("16px", "50%", "8px 32px", "40px / 20px"),
            panel("background:#b9502a;border-radius:8px 42px 8px 42px"),
        ),
        Entry(
            "outline outline-width outline-style outline-color",
            ("2px solid #b9502a", "none"),
            panel("background:#e7e0d5;outline:5px solid #b9502a"),
            "It takes no space.",
        ),
        Entry(
            "outline-offset", ("8px", "-4px"), panel("background:#e7e0d5;outline:3px solid #b9502a;outline-offset:9px")
        ),
        Entry(
            "box-shadow",
            ("0 8px 24px #00000040", "inset 0 0 0 4px gold", "4px 4px 0 2px #b9502a, 0 0 8px #000", "none"),
            panel("background:#fff;border-radius:14px;box-shadow:0 12px 24px -6px #1d1a1766,inset 0 0 0 3px #e0a458"),
        ),
    ),
)


def photo(style: str) -> str:
    """Return an image in an area with a different aspect ratio."""
    return panel("", f'<img src="{PHOTO}" style="width:200px;height:84px;background:#e7e0d5;{style}">')


def few_pixels() -> str:
    """Return the data URL of an image of four by two pixels."""
    image = Image.new("RGB", (4, 2))
    image.putdata([ImageColor.getrgb(color) for color in (RED, GOLD, GREEN, BLUE, BLUE, GREEN, GOLD, RED)])
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"


EFFECTS: Final = Group(
    "effects",
    "Images and effects",
    "",
    (
        Entry("object-fit", ("fill", "contain", "cover", "none", "scale-down"), photo("object-fit:contain")),
        Entry(
            "object-position", ("center", "left top", "100% 20px"), photo("object-fit:contain;object-position:right")
        ),
        Entry(
            "image-rendering",
            ("auto", "pixelated", "crisp-edges", "smooth"),
            panel("", f'<img src="{few_pixels()}" style="width:200px;height:84px;image-rendering:pixelated">'),
            "Ignored: images are always enlarged smoothly.",
        ),
        Entry(
            "transform -webkit-transform",
            (
                "rotate(-4deg)",
                "translate(20px, 10%)",
                "scale(1.2)",
                "skewX(12deg)",
                "matrix(1, 0, 0.2, 1, 0, 0)",
                "none",
            ),
            panel("background:#b9502a;border-radius:10px;transform:rotate(-6deg) skewX(-8deg)"),
            "Two-dimensional transforms only.",
        ),
        Entry(
            "translate",
            ("20px", "10% 20px", "none"),
            frame("display:flex;align-items:center", box("translate:60px 16px", "60 16")),
        ),
        Entry(
            "rotate",
            ("12deg", "0.1turn", "none"),
            panel("background:#b9502a;border-radius:10px;rotate:8deg"),
        ),
        Entry(
            "scale",
            ("1.2", "1.2 0.8", "none"),
            flexed("align-items:center;justify-content:space-evenly", box("scale:0.6"), box(), box("scale:1.6")),
        ),
        Entry(
            "transform-origin",
            ("center", "left top", "20% 80%"),
            panel(
                "background:#e7e0d5", box("width:100%;height:100%;transform:rotate(8deg);transform-origin:left bottom")
            ),
        ),
        Entry(
            "filter -webkit-filter",
            (
                "blur(4px)",
                "grayscale(1)",
                "brightness(120%)",
                "contrast(80%)",
                "saturate(2)",
                "sepia(0.6)",
                "hue-rotate(90deg)",
                "invert(1)",
                "opacity(50%)",
                "drop-shadow(2px 4px 6px #0006)",
            ),
            flexed(
                "align-items:center;justify-content:center;gap:14px",
                *(
                    f'<img src="{PHOTO}" style="width:84px;height:56px;filter:{function}">'
                    for function in ("grayscale(1)", "blur(4px)", "hue-rotate(120deg)")
                ),
            ),
        ),
        Entry(
            "backdrop-filter -webkit-backdrop-filter",
            ("blur(8px)", "saturate(2) brightness(1.1)"),
            panel(
                f"position:relative;background:{STRIPES}",
                '<div style="position:absolute;inset:16px 40px;border-radius:10px;background:#ffffff55;'
                'backdrop-filter:blur(8px)"></div>',
            ),
        ),
        Entry(
            "clip-path -webkit-clip-path",
            ("circle(40%)", "ellipse(40% 30%)", "inset(10px round 8px)", "polygon(50% 0, 100% 100%, 0 100%)", "none"),
            panel(f"background:{SUNSET};clip-path:polygon(0 0,82% 0,100% 50%,82% 100%,0 100%)"),
        ),
        Entry(
            "mask-image -webkit-mask-image",
            ("linear-gradient(#000, transparent)", "none"),
            panel(f"background:{STRIPES};mask-image:linear-gradient(90deg,#000 20%,transparent)"),
        ),
        Entry(
            "mask -webkit-mask",
            ("linear-gradient(#000, transparent)", "radial-gradient(circle, #000 50%, transparent) no-repeat"),
            panel(f"background:{STRIPES};mask:radial-gradient(circle,#000 50%,transparent 51%) 0 0/42px 42px"),
        ),
        Entry(
            "mask-size -webkit-mask-size",
            ("40px", "50% 50%", "cover", "contain"),
            panel(f"background:{STRIPES};mask-image:linear-gradient(90deg,#000,transparent);mask-size:50px"),
        ),
        Entry(
            "mask-position -webkit-mask-position",
            ("center", "right 10px top"),
            panel(
                f"background:{STRIPES};mask-image:radial-gradient(circle closest-side,#000 98%,transparent);"
                "mask-size:84px 84px;mask-repeat:no-repeat;mask-position:right"
            ),
        ),
        Entry(
            "mask-repeat -webkit-mask-repeat",
            ("repeat", "no-repeat", "repeat-x", "repeat-y", "round", "space"),
            panel(
                f"background:{STRIPES};mask-image:radial-gradient(circle closest-side,#000 96%,transparent);"
                "mask-size:42px 42px;mask-repeat:repeat-x"
            ),
        ),
        Entry(
            "isolation",
            ("auto", "isolate"),
            frame(
                "position:relative;background:#e0a458",
                '<div style="isolation:isolate">'
                + circle(70, "#3f8fbf", "mix-blend-mode:multiply")
                + "</div>"
                + circle(170, "#3f8fbf", "mix-blend-mode:multiply"),
            ),
            "The first circle blends only with the content of its own element.",
        ),
        Entry(
            "mix-blend-mode",
            (
                "normal",
                "multiply",
                "screen",
                "overlay",
                "darken",
                "lighten",
                "color-dodge",
                "color-burn",
                "hard-light",
                "soft-light",
                "difference",
                "exclusion",
                "plus-lighter",
            ),
            frame(
                "position:relative",
                circle(70, "#e0a458") + circle(124, "#3f8fbf", "mix-blend-mode:multiply"),
            ),
        ),
    ),
)

GROUPS: Final = (BOXES, SIZES, FLEX, GRID, FONTS, TEXT, DECORATION, BACKGROUNDS, BORDERS, EFFECTS)
