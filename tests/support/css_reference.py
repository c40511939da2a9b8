"""Content of the image generator's CSS reference: groups of properties, each with values and a small image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

RED, GREEN, GOLD, BLUE = "#b9502a", "#2f6f62", "#e0a458", "#3f5f8f"


@dataclass(frozen=True, slots=True)
class Entry:
    """One row: names of properties and shorthands, example values of the first one, and the HTML of the image."""

    names: str
    values: tuple[str, ...]
    html: str
    note: str = ""

    @property
    def id(self) -> str:
        """The name of the entry's image file."""
        return self.names.split()[0].strip("-")


@dataclass(frozen=True, slots=True)
class Group:
    """A section of the page."""

    id: str
    title: str
    text: str
    entries: tuple[Entry, ...]


def box(style: str = "", text: str = "", color: str = RED) -> str:
    """Return a small box with centred white text."""
    return (
        f'<div style="display:flex;align-items:center;justify-content:center;min-width:44px;min-height:28px;'
        f'border-radius:6px;background:{color};color:#fff;font-size:18px;font-weight:600;{style}">{text}</div>'
    )


def frame(style: str, content: str) -> str:
    """Return a container with a dashed outline that fills the image, except for a margin."""
    return (
        f'<div style="width:100%;height:100%;padding:14px"><div style="width:100%;height:100%;'
        f'outline:2px dashed #cfc4b4;outline-offset:2px;{style}">{content}</div></div>'
    )


def words(style: str, text: str = "Type matters") -> str:
    """Return text centred in the image."""
    return (
        f'<div style="display:flex;align-items:center;justify-content:center;width:100%;height:100%;padding:12px">'
        f'<div style="font-size:36px;line-height:1.2;{style}">{text}</div></div>'
    )


def paragraph(style: str, text: str) -> str:
    """Return text at the top left of a frame."""
    return frame(f"font-size:20px;line-height:1.25;{style}", text)


def span(style: str, text: str = "Aa") -> str:
    """Return an inline span."""
    return f'<span style="{style}">{text}</span>'


def circle(left: int, color: str, style: str = "") -> str:
    """Return an absolutely positioned circle."""
    return (
        f'<div style="position:absolute;left:{left}px;top:8px;width:84px;height:84px;border-radius:50%;'
        f'background:{color};{style}"></div>'
    )


def panel(style: str, text: str = "") -> str:
    """Return an area centred in the image."""
    return (
        '<div style="display:flex;align-items:center;justify-content:center;width:100%;height:100%">'
        f'<div style="width:200px;height:84px;{style}">{text}</div></div>'
    )


def flexed(style: str, *boxes: str) -> str:
    """Return boxes in a flex container."""
    return frame(f"display:flex;gap:8px;{style}", "".join(boxes))


ONE, TWO, THREE = box(text="1"), box(text="2", color=GREEN), box(text="3", color=GOLD)
PHOTO: Final = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='120' height='80'%3E"
    "%3Crect width='120' height='80' fill='%238fbcd4'/%3E%3Ccircle cx='92' cy='22' r='11' fill='%23ffe3a3'/%3E"
    "%3Cpath d='M0 60 34 30l26 22 22-16 38 28v16H0z' fill='%232f6f62'/%3E%3C/svg%3E"
)
STRIPES: Final = "repeating-linear-gradient(45deg,#b9502a 0 10px,#e0a458 10px 20px)"
SUNSET: Final = "linear-gradient(90deg,#b9502a,#e0a458)"

BOXES: Final = Group(
    "boxes",
    "Boxes and positions",
    "An element is `inline` unless its tag or `display` says otherwise; `<div>`, `<p>` and headings are blocks.",
    (
        Entry(
            "display",
            (
                "flex",
                "inline-flex",
                "block",
                "inline",
                "inline-block",
                "grid",
                "inline-grid",
                "contents",
                "none",
                "flow-root",
                "list-item",
            ),
            flexed("align-items:center", ONE, TWO, THREE),
            "`table` and its parts are laid out as blocks, with a warning.",
        ),
        Entry(
            "position",
            ("static", "relative", "absolute", "fixed", "sticky"),
            frame("position:relative", box("position:absolute;right:10px;bottom:10px;width:110px", "absolute")),
            "`fixed` works like `absolute` in the canvas, and `sticky` like `relative`: nothing scrolls.",
        ),
        Entry(
            "inset top right bottom left inset-block inset-inline inset-block-start inset-block-end",
            ("12px", "10%", "auto", "-8px"),
            frame("position:relative", box("position:absolute;inset:14px 40px 22px 80px", "14 40 22 80")),
        ),
        Entry(
            "z-index",
            ("auto", "2", "-1"),
            frame(
                "position:relative",
                box("position:absolute;left:50px;top:14px;width:100px;height:56px;z-index:2", "2")
                + box("position:absolute;left:110px;top:34px;width:100px;height:56px;z-index:1", "1", GREEN),
            ),
        ),
        Entry(
            "overflow overflow-x overflow-y",
            ("visible", "hidden", "clip", "auto", "scroll"),
            panel(
                "overflow:hidden;background:#e7e0d5;border-radius:16px",
                box("margin:24px 0 0 90px;width:170px;height:90px"),
            ),
            "`auto` and `scroll` clip the content, as `hidden` does.",
        ),
        Entry(
            "visibility",
            ("visible", "hidden", "collapse"),
            flexed("align-items:center", ONE, box("visibility:hidden", "2"), THREE),
        ),
        Entry(
            "direction",
            ("ltr", "rtl"),
            flexed("direction:rtl;align-items:center", ONE, TWO, THREE),
            "The attribute `dir` has the same effect.",
        ),
        Entry(
            "opacity",
            ("0.5", "50%"),
            flexed("align-items:center", box(text="1"), box("opacity:0.6", "0.6"), box("opacity:0.25", "0.25")),
        ),
    ),
)

SIZES: Final = Group(
    "sizes",
    "Sizes and space",
    "Lengths are in `px`, `%`, `em`, `rem`, `vw`, `vh`, `vmin`, `vmax`, `pt`, `in`, `cm` or `mm`, or computed by "
    "`calc()`, `min()`, `max()` or `clamp()`. Sizes include padding and border unless `box-sizing` says otherwise.",
    (
        Entry(
            "width height inline-size block-size",
            ("120px", "50%", "calc(100% - 40px)", "auto", "min-content", "max-content", "fit-content"),
            frame("", box("width:75%;height:60%", "75% by 60%")),
        ),
        Entry(
            "min-width min-height max-width max-height min-inline-size max-inline-size min-block-size max-block-size",
            ("80px", "50%", "min-content", "max-content"),
            flexed(
                "flex-direction:column",
                box("width:100%;max-width:150px", "max 150"),
                box("width:20px;min-width:220px", "min 220", GREEN),
            ),
        ),
        Entry(
            "aspect-ratio",
            ("16 / 9", "1", "auto"),
            flexed(
                "align-items:center",
                box("height:72px;aspect-ratio:16/9", "16/9"),
                box("height:72px;aspect-ratio:1", "1", GREEN),
            ),
        ),
        Entry(
            "box-sizing",
            ("border-box", "content-box"),
            flexed(
                "align-items:center",
                box("width:90px;padding:14px", "border"),
                box("width:90px;padding:14px;box-sizing:content-box", "content", GREEN),
            ),
        ),
        Entry(
            "margin margin-top margin-right margin-bottom margin-left margin-block margin-inline margin-block-start "
            "margin-block-end",
            ("8px", "8px 16px", "auto", "-4px", "10%"),
            frame("display:flex", box("margin:20px 0 0 60px;width:120px;height:44px", "20 0 0 60")),
            "Margins of blocks collapse as in browsers. `auto` takes the remaining space.",
        ),
        Entry(
            "padding padding-top padding-right padding-bottom padding-left padding-block padding-inline "
            "padding-block-start padding-block-end",
            ("12px", "12px 24px", "5%"),
            panel("padding:16px 40px;background:#e7e0d5;border-radius:8px", box("width:100%;height:100%", "16 40")),
        ),
    ),
)

FLEX: Final = Group(
    "flex",
    "Flexible boxes",
    "`display:flex` puts the children in a row or a column (CSS Flexible Box Layout 1).",
    (
        Entry(
            "flex-direction",
            ("row", "row-reverse", "column", "column-reverse"),
            flexed("flex-direction:column", ONE, TWO, THREE),
        ),
        Entry(
            "flex-wrap",
            ("nowrap", "wrap", "wrap-reverse"),
            flexed("flex-wrap:wrap", *(box("width:110px", str(n)) for n in range(1, 4))),
        ),
        Entry(
            "flex-flow",
            ("row wrap", "column"),
            flexed("flex-flow:column wrap", *(box("width:80px", str(n)) for n in range(1, 6))),
        ),
        Entry(
            "justify-content",
            ("flex-start", "center", "flex-end", "space-between", "space-around", "space-evenly", "start", "end"),
            flexed("justify-content:space-between;align-items:center", ONE, TWO, THREE),
        ),
        Entry(
            "align-items",
            ("stretch", "center", "flex-start", "flex-end", "start", "end", "baseline"),
            flexed("align-items:flex-end", box("height:80px", "1"), box("height:50px", "2", GREEN), THREE),
        ),
        Entry(
            "align-self",
            ("auto", "center", "flex-end", "stretch"),
            flexed("align-items:flex-start", ONE, box("align-self:flex-end", "2", GREEN), THREE),
        ),
        Entry(
            "align-content",
            ("stretch", "center", "flex-start", "flex-end", "space-between", "space-around"),
            flexed("flex-wrap:wrap;align-content:space-between", *(box("width:130px", str(n)) for n in range(1, 5))),
        ),
        Entry(
            "gap row-gap column-gap grid-gap grid-row-gap grid-column-gap",
            ("16px", "8px 24px", "5%"),
            flexed("gap:12px 40px;flex-wrap:wrap", *(box("width:70px", str(n)) for n in range(1, 5))),
        ),
        Entry(
            "flex",
            ("1", "0 0 120px", "auto", "none", "2 1 0%"),
            flexed("align-items:center", box("flex:1", "1"), box("flex:2", "2", GREEN), box("flex:1", "1", GOLD)),
        ),
        Entry(
            "flex-grow",
            ("0", "1", "2.5"),
            flexed("align-items:center", ONE, box("flex-grow:1", "grow 1", GREEN), THREE),
        ),
        Entry(
            "flex-shrink",
            ("1", "0"),
            flexed("align-items:center", box("width:220px;flex-shrink:0", "shrink 0"), box("width:220px", "1", GREEN)),
        ),
        Entry(
            "flex-basis",
            ("120px", "40%", "auto", "content"),
            flexed("align-items:center", box("flex-basis:60%", "60%"), TWO),
        ),
        Entry("order", ("0", "-1", "2"), flexed("align-items:center", ONE, TWO, box("order:-1", "3", GOLD))),
    ),
)

CELLS = "".join(box(text=str(n), color=color) for n, color in enumerate((RED, GREEN, GOLD, BLUE), 1))

GRID: Final = Group(
    "grid",
    "Grids",
    "`display:grid` with columns and rows of fixed or flexible size (CSS Grid Layout 1).",
    (
        Entry(
            "grid-template-columns",
            ("1fr 1fr 1fr", "120px 1fr", "repeat(3, 1fr)", "minmax(80px, 1fr) 2fr"),
            frame("display:grid;gap:8px;grid-template-columns:2fr 1fr", CELLS),
        ),
        Entry(
            "grid-template-rows",
            ("60px 1fr", "auto auto"),
            frame("display:grid;gap:8px;grid-template-columns:1fr 1fr;grid-template-rows:1fr 2fr", CELLS),
        ),
        Entry(
            "grid-template",
            ("1fr 2fr / 1fr 1fr",),
            frame("display:grid;gap:8px;grid-template:1fr 1fr / 1fr 3fr", CELLS),
        ),
        Entry(
            "grid-template-areas",
            ("'head head' 'side main'", "none"),
            frame(
                "display:grid;gap:8px;grid-template-columns:1fr 3fr;grid-template-areas:'head head' 'side main'",
                box("grid-area:head", "head")
                + box("grid-area:side", "side", GREEN)
                + box("grid-area:main", "main", GOLD),
            ),
        ),
        Entry(
            "grid",
            ("60px 1fr / 1fr 2fr",),
            frame("display:grid;gap:8px;grid:2fr 1fr / 1fr 1fr 2fr", CELLS),
        ),
        Entry(
            "grid-column grid-column-start grid-column-end",
            ("1 / 3", "span 2", "2"),
            frame(
                "display:grid;gap:8px;grid-template-columns:repeat(3,1fr)",
                box("grid-column:span 2", "span 2") + TWO + THREE,
            ),
        ),
        Entry(
            "grid-row grid-row-start grid-row-end",
            ("1 / 3", "span 2"),
            frame(
                "display:grid;gap:8px;grid-template-columns:1fr 1fr;grid-template-rows:1fr 1fr",
                box("grid-row:span 2", "span 2") + TWO + THREE,
            ),
        ),
        Entry(
            "grid-area",
            ("1 / 2 / 3 / 4",),
            frame(
                "display:grid;gap:8px;grid-template:1fr 1fr / 1fr 1fr 1fr",
                box("grid-area:1/2/3/4", "1 / 2 / 3 / 4") + TWO,
            ),
        ),
        Entry(
            "grid-auto-rows grid-auto-columns",
            ("40px", "1fr", "minmax(30px, auto)"),
            frame("display:grid;gap:8px;grid-template-columns:1fr 1fr;grid-auto-rows:44px", CELLS),
        ),
        Entry(
            "grid-auto-flow",
            ("row", "column", "row dense", "column dense"),
            frame("display:grid;gap:8px;grid-template-rows:1fr 1fr;grid-auto-flow:column", CELLS),
        ),
        Entry(
            "justify-items place-items",
            ("stretch", "center", "start", "end"),
            frame("display:grid;gap:8px;grid-template-columns:1fr 1fr;justify-items:center", CELLS),
        ),
        Entry(
            "justify-self place-self",
            ("auto", "center", "end", "stretch"),
            frame(
                "display:grid;gap:8px;grid-template-columns:1fr 1fr", ONE + box("justify-self:end", "2", GREEN) + THREE
            ),
        ),
        Entry(
            "place-content",
            ("center", "space-between", "start end"),
            frame("display:grid;gap:8px;grid-template-columns:60px 60px;place-content:center", CELLS),
        ),
    ),
)
