"""Sanitise SVG images for resvg: nothing is loaded, and their complexity is limited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element
from xml.parsers import expat

_SVG: Final = "http://www.w3.org/2000/svg"
_XLINK: Final = "http://www.w3.org/1999/xlink"
_REFERENCE: Final = re.compile(r"url\(\s*+['\"]?+\s*+#([^'\")\s]++)", re.IGNORECASE)
_ANY_URL: Final = re.compile(r"url\(\s*+['\"]?+\s*+(?!#)[^)]*+\)?+|@import[^;]*+;?+", re.IGNORECASE)
_EMBEDDED: Final = re.compile(r"data:image/(png|jpe?g|gif|webp);base64,", re.IGNORECASE)
_LENGTH: Final = re.compile(r"\s*+([0-9]{1,30}(?:\.[0-9]{1,30})?|\.[0-9]{1,30})(px|pt|em|rem|mm|cm|in)?\s*+\Z")
_UNITS: Final = {
    None: 1.0, "px": 1.0, "pt": 96 / 72, "em": 16.0, "rem": 16.0, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0,
}  # fmt: skip
_DRAWN_ELEMENTS: Final = frozenset(
    {"svg", "g", "defs", "symbol", "use", "switch", "a", "title", "desc", "style", "path", "rect", "circle", "ellipse",
     "line", "polyline", "polygon", "text", "tspan", "textPath", "image", "linearGradient", "radialGradient", "stop",
     "pattern", "clipPath", "mask", "marker", "filter", "feBlend", "feColorMatrix", "feComponentTransfer", "feFuncA",
     "feFuncB", "feFuncG", "feFuncR", "feComposite", "feDiffuseLighting", "feDisplacementMap", "feDistantLight",
     "feDropShadow", "feFlood", "feGaussianBlur", "feMerge", "feMergeNode", "feOffset", "fePointLight",
     "feSpecularLighting", "feSpotLight", "feTile"}
)  # fmt: skip
"""Elements that are kept. All others run code, load files, animate, take too long, or are not rendered."""

_REPORTED: Final = {
    "script": "scripts",
    "foreignobject": "foreignObject",
    "iframe": "foreignObject",
    "animate": "animations",
    "animatemotion": "animations",
    "animatetransform": "animations",
    "set": "animations",
    "feturbulence": "filters that take too long",
    "feimage": "filters that take too long",
    "feconvolvematrix": "filters that take too long",
    "femorphology": "filters that take too long",
}
"""Descriptions in `Svg.removed` of elements whose removal could be noticed, by lower-case element name."""

_HANDLERS: Final = "event handlers"
_OUTSIDE: Final = "references to other files"
_CSS_ESCAPE: Final = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|(.))", re.IGNORECASE | re.DOTALL)
_LOADING: Final = re.compile(r"url\(|@import|image-set\(|src\(", re.IGNORECASE)

_SIMPLE_ELEMENTS: Final = frozenset(
    {"svg", "g", "defs", "title", "desc", "metadata", "use", "path", "rect", "circle", "ellipse", "line", "polyline",
     "polygon", "linearGradient", "radialGradient", "stop"}
)  # fmt: skip
_COSTLY: Final = re.compile(
    r"(?:^|;)\s*(?:filter|mask|clip-path|marker[a-z-]*|stroke-dasharray|opacity|mix-blend-mode|isolation)\s*:",
    re.IGNORECASE,
)
"""Attributes, and declarations in `style`, that cause extra layers or repeated drawing."""

MAX_BYTES: Final = 5 * 2**20
MAX_ELEMENTS: Final = 20_000
"""Maximum number of drawn elements. Each is counted as often as it is referenced."""

MAX_DEPTH: Final = 200
MAX_BLUR: Final = 200.0


class UnsafeSvg(ValueError):
    """The image cannot be read or exceeds a limit."""


@dataclass(frozen=True, slots=True)
class Svg:
    """A sanitised SVG and its declared size.

    `elements` is the number of drawn elements, each counted as often as it is referenced. `simple` is whether it
    contains only shapes filled with colours and gradients. `removed` describes content left out because it runs code,
    loads files or animates.
    """

    text: str
    width: float | None
    height: float | None
    ratio: float | None
    elements: int = 0
    simple: bool = False
    removed: tuple[str, ...] = ()

    def sized(self, width: int, height: int) -> str:
        """Return the SVG text with a viewport of that many pixels."""
        return f'<svg width="{width}" height="{height}"{self.text.removeprefix("<svg")}'


def safe_svg(text: str) -> Svg:
    """Return a sanitised SVG, without anything that loads files or runs code.

    Raises:
        UnsafeSvg: the text is not an SVG, declares entities, or is too large or complex.
    """
    if len(text) > MAX_BYTES:
        raise UnsafeSvg("the SVG is too large")
    # Entities are the only part of XML that can expand or read files, and images do not need them.
    if "<!ENTITY" in text or _declares(text):
        raise UnsafeSvg("the SVG declares entities")
    root = _parsed(text)
    if root.tag not in (f"{{{_SVG}}}svg", "svg"):
        raise UnsafeSvg("there is no <svg> in it")
    removed = _strip(root)
    elements = _drawn_elements(root)
    if elements > MAX_ELEMENTS:
        raise UnsafeSvg(f"the SVG draws more than {MAX_ELEMENTS} elements")
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", _XLINK)
    width, height = _length(root.get("width")), _length(root.get("height"))
    ratio = width / height if width and height else _view_ratio(root.get("viewBox", ""))
    _without_size(root, width, height)
    return Svg(ET.tostring(root, encoding="unicode"), width, height, ratio, elements, _simple(root), removed)


def with_namespaces(markup: str) -> str:
    """Add the namespaces that files require but HTML pages can omit to the markup of an `<svg>`."""
    head = markup[:2000].partition("<svg")[2].partition(">")[0]
    if "xmlns=" not in head:
        markup = markup.replace("<svg", f'<svg xmlns="{_SVG}"', 1)
    if "xlink:" in markup and "xmlns:xlink" not in markup:
        markup = markup.replace("<svg", f'<svg xmlns:xlink="{_XLINK}"', 1)
    return markup


def _declares(text: str) -> bool:
    """Return whether the document type has an internal subset."""
    if "<!DOCTYPE" not in text:
        return False
    subsets: list[bool] = []
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = lambda _name, _system, _public, internal: subsets.append(bool(internal))
    with suppress(expat.ExpatError, ValueError):  # reported when the tree is built
        parser.Parse(text, True)
    return any(subsets)


def _without_size(root: Element, width: float | None, height: float | None) -> None:
    """Remove the size, which the caller sets. Add a missing `viewBox` that stretches the drawing, as in browsers."""
    for name in ("width", "height", "x", "y"):
        root.attrib.pop(name, None)
    if width and height and "viewBox" not in root.attrib:
        root.set("viewBox", f"0 0 {width} {height}")
        root.set("preserveAspectRatio", "none")


def _parsed(text: str) -> Element:
    """Parse an XML text and return its root. Raises `UnsafeSvg` if it is malformed or nested too deeply."""
    builder = _Builder()
    parser = ET.XMLParser(target=builder)  # noqa: S314 - what declares entities was refused before
    try:
        parser.feed(text)
        parser.close()
    except (ET.ParseError, ValueError, AssertionError) as error:
        if isinstance(error, UnsafeSvg):
            raise
        raise UnsafeSvg("the SVG is not well-formed XML") from error
    return builder.root


class _Builder(ET.TreeBuilder):
    """A tree builder that limits the nesting depth."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = 0
        self._root: Element | None = None

    @property
    def root(self) -> Element:
        """The root element."""
        if self._root is None:
            raise UnsafeSvg("there is no <svg> in it")
        return self._root

    def start(self, tag: Any, attrs: dict[Any, Any], /) -> Any:
        """Open an element."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise UnsafeSvg("the SVG is nested too deeply")
        element = super().start(tag, attrs)
        self._root = element if self._root is None else self._root
        return element

    def end(self, tag: str, /) -> Element:
        """Close an element."""
        self._depth -= 1
        return super().end(tag)


def _length(text: str | None) -> float | None:
    match = _LENGTH.match(text or "")
    return float(match[1]) * _UNITS[match[2]] if match else None


def _view_ratio(box: str) -> float | None:
    try:
        _, _, width, height = (float(part) for part in re.split(r"[\s,]+", box.strip()))
    except ValueError:
        return None
    return width / height if 0 < width < 1e9 and 0 < height < 1e9 else None


def _strip(root: Element) -> tuple[str, ...]:
    """Remove everything that is not drawn, and return descriptions of noticeable removals."""
    removed: dict[str, None] = {}
    pending = [root]
    while pending:
        parent = pending.pop()
        for child in list(parent):
            if _outside_svg(child.tag) or _local(child.tag) not in _DRAWN_ELEMENTS:
                parent.remove(child)
                if reported := _REPORTED.get(_local(child.tag).lower()):
                    removed[reported] = None
            else:
                pending.append(child)
        if _local(parent.tag) == "style" and (text := parent.text):
            parent.text = "" if _hides_loading(text) else _ANY_URL.sub("", text)
            if parent.text != text:
                removed[_OUTSIDE] = None
        for name, value in list(parent.attrib.items()):
            if reported := _strip_attribute(parent, name, value):
                removed[reported] = None
        if _local(parent.tag) == "feGaussianBlur":
            parent.set("stdDeviation", _capped(parent.get("stdDeviation", "0")))
    return tuple(removed)


def _outside_svg(name: str) -> bool:
    return name.startswith("{") and not name.startswith(f"{{{_SVG}}}")


def _strip_attribute(element: Element, name: str, value: str) -> str:
    """Remove an attribute that runs code or loads a file, and return its description or an empty string."""
    local = _local(name).lower()
    if local == "href":
        if not value.startswith("#") and not _EMBEDDED.match(value):
            del element.attrib[name]
            return _OUTSIDE
    elif local.startswith("on"):
        del element.attrib[name]
        return _HANDLERS
    elif _hides_loading(value) or local in ("base", "src"):
        del element.attrib[name]
        return _OUTSIDE
    elif name.startswith("{") and not name.startswith((f"{{{_XLINK}}}", "{http://www.w3.org/XML/")):
        # Metadata of the drawing program.
        del element.attrib[name]
    elif "url(" in value.lower() and (cleaned := _ANY_URL.sub("none", value)) != value:
        element.set(name, cleaned)
        return _OUTSIDE
    return ""


def _hides_loading(css: str) -> bool:
    """Return whether CSS loads something by means other than a plain `url(…)` (CSS Syntax 3, section 4.3.7)."""
    if "image-set(" in css.lower() or "src(" in css.lower():
        return True
    return "\\" in css and _LOADING.search(_CSS_ESCAPE.sub(_unescaped, css)) is not None


def _unescaped(match: re.Match[str]) -> str:
    code = int(match[1], 16) if match[1] else ord(match[2])
    return chr(code) if 0 < code <= 0x10FFFF else "\ufffd"


def _capped(deviation: str) -> str:
    try:
        return " ".join(str(min(float(part), MAX_BLUR)) for part in re.split(r"[\s,]+", deviation.strip()))
    except ValueError:
        return "0"


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _simple(root: Element) -> bool:
    return all(
        _local(element.tag) in _SIMPLE_ELEMENTS
        and not any(_COSTLY.search(f"{_local(name)}:{value}") for name, value in element.attrib.items())
        for element in root.iter()
    )


def _references(element: Element) -> Iterator[str]:
    for name, value in element.attrib.items():
        if _local(name) == "href" and value.startswith("#"):
            yield value[1:]
        yield from _REFERENCE.findall(value)


def _drawn_elements(root: Element) -> int:
    """Return the number of drawn elements, with each reference drawing its target again; cycles count once."""
    by_id = {value: element for element in root.iter() if (value := element.get("id"))}
    counts: dict[Element, int] = {}
    open_elements: set[Element] = set()
    stack: list[tuple[Element, bool]] = [(root, False)]
    while stack:
        element, done = stack.pop()
        targets = [*element, *(by_id[name] for name in _references(element) if name in by_id)]
        if done:
            open_elements.discard(element)
            counts[element] = min(1 + sum(counts.get(target, 0) for target in targets), MAX_ELEMENTS + 1)
        elif element not in counts and element not in open_elements:
            open_elements.add(element)
            stack.append((element, True))
            stack += [(target, False) for target in targets]
    return counts[root]
