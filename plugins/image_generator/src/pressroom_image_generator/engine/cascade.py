"""From style attributes to computed styles: element defaults, variables, inheritance and units."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

import tinycss2
from pressroom.graphics.color import Color
from pressroom.graphics.css import significant
from pressroom.sdk import InvalidInput
from tinycss2.ast import FunctionBlock, Node

from pressroom_image_generator.engine.css_images import url_of
from pressroom_image_generator.engine.notes import Notes, quoted
from pressroom_image_generator.engine.parse import Element, default_declarations, presentational, refuse_url
from pressroom_image_generator.engine.properties import PROPERTIES, Style
from pressroom_image_generator.engine.shorthands import SHORTHANDS, physical, wide_keyword
from pressroom_image_generator.engine.values import Units, absolute, tokens

MAX_BRACKET_DEPTH: Final = 32
MAX_VALUES: Final = 5000
"""Maximum number of component values of a declaration after variable substitution."""

_FIRST: Final = ("direction", "font-size", "color")
"""Properties that are computed first, because others depend on them."""

_WITHOUT_EFFECT: Final = frozenset({"-webkit-box-orient", "-webkit-font-smoothing", "text-rendering"})
"""Companions of other properties, which are safe to ignore."""

_VECTOR: Final = re.compile(r"(fill|stroke|stop|marker|shape-rendering|paint-order)\b")
"""Properties that `<svg>` itself applies."""

_ROOT_SIZE: Final = 16.0
_STRUCTURED: Final = re.compile(r"""["'{}\[\]\\@]|/\*|url\(|--""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Declaration:
    """A parsed declaration; `variables` is whether it contains `var()`."""

    name: str
    nodes: tuple[Node, ...]
    important: bool
    text: str
    variables: bool


@dataclass(frozen=True, slots=True)
class Longhand:
    """A longhand with its value.

    `key` is the declaration that it comes from, as a cache key for the value; `wide` is the CSS-wide keyword, if it is
    one.
    """

    name: str
    nodes: tuple[Node, ...] = field(compare=False)
    key: str
    wide: str = ""


@dataclass(frozen=True, slots=True)
class StyleSheet:
    """The declarations of a style attribute, and its parse errors."""

    declarations: tuple[Declaration, ...]
    problems: tuple[str, ...] = ()


class Cascade:
    """Computes the styles of all elements. `width` and `height` are in device pixels, of which 1px has `density`."""

    def __init__(self, width: float, height: float, notes: Notes, density: int = 1) -> None:
        self._width = width
        self._height = height
        self._notes = notes
        self._density = density

    def root(self) -> Style:
        """Return the style of the canvas, which all elements inherit from."""
        style = Style(density=self._density)
        style.set("display", "block")
        return style

    def style(self, element: Element, parent: Style) -> Style:
        """Return the computed style of an element.

        Raises:
            InvalidInput: a `url()` is not an image in a `data:` URL.
        """
        style = Style(parent)
        sheet = parsed_style(element.attributes.get("style", ""))
        for problem in sheet.problems:
            self._notes.warn(problem)
        ordered = [declaration for declaration in sheet.declarations if not declaration.important]
        ordered += [declaration for declaration in sheet.declarations if declaration.important]
        self._set_variables(style, ordered)
        longhands: dict[str, tuple[Longhand, Declaration]] = {}
        for declaration in ordered:
            if not declaration.name.startswith("--"):
                self._expand(declaration, style, longhands)
        defaults = (*default_declarations(element, "font-family" in longhands), *presentational(element))
        # In two rounds, so that default margins in em are those of the author's font size, for instance.
        for first in (True, False):
            for name, value in defaults:
                if (name in _FIRST) == first:
                    side = physical(name, style.direction)
                    self._apply(style, parent, Longhand(side, tokens(value), f"{name}:{value}"))
            for longhand, declaration in longhands.values():
                if (longhand.name in _FIRST) == first and not (element.tag == "svg" and _VECTOR.match(longhand.name)):
                    self._declare(style, parent, longhand, declaration)
        return style

    def _set_variables(self, style: Style, declarations: Iterable[Declaration]) -> None:
        variables = {
            declaration.name: declaration.nodes for declaration in declarations if declaration.name.startswith("--")
        }
        if not variables:
            return
        scope = {**style.variables, **variables}
        resolved = dict(style.variables)
        for name, nodes in variables.items():
            value = _substituted(nodes, scope, (name,))
            if value is None:
                resolved.pop(name, None)
            else:
                resolved[name] = tuple(value)
        style.variables = resolved

    def _expand(self, declaration: Declaration, style: Style, into: dict[str, tuple[Longhand, Declaration]]) -> None:
        if declaration.variables:
            nodes = _substituted(declaration.nodes, style.variables, ())
            if nodes is None:
                self._notes.warn(f"{declaration.name}: a variable in {quoted(declaration.text)} has no value")
                return
            longhands = expanded(declaration.name, significant(nodes), "")
        else:
            longhands = _expanded_text(declaration.name, declaration.text)
        if longhands is None:
            self._notes.warn(f"{declaration.name}: {quoted(declaration.text)} is not understood")
            return
        for longhand in longhands:
            into.pop(longhand.name, None)
            into[longhand.name] = (longhand, declaration)

    def _declare(self, style: Style, parent: Style, longhand: Longhand, declaration: Declaration) -> None:
        name = physical(longhand.name, style.direction)
        if name not in PROPERTIES:
            if name not in _WITHOUT_EFFECT:
                self._notes.warn(f"the property {quoted(name)[1:-1]} is not supported")
        elif not self._apply(style, parent, longhand if name == longhand.name else replace(longhand, name=name)):
            self._notes.warn(f"{declaration.name}: {quoted(declaration.text)} is not understood")

    def _apply(self, style: Style, parent: Style, longhand: Longhand) -> bool:
        definition = PROPERTIES[longhand.name]
        wide = longhand.wide
        if wide == "inherit" or (wide in ("unset", "revert", "revert-layer") and definition.inherited):
            style.set(longhand.name, getattr(parent, definition.attribute))
            return True
        if wide:
            style.set(longhand.name, definition.initial_at(style.density))
            return True
        em = parent.font_size if longhand.name == "font-size" else style.font_size
        color = parent.color if longhand.name == "color" else style.color
        units = _units(em, self._width, self._height, color, self._density)
        value = _value(longhand, units) if longhand.key else _read(longhand, units)
        if value is None:
            return False
        style.set(longhand.name, value)
        return True


def expanded(name: str, nodes: Sequence[Node], text: str) -> tuple[Longhand, ...] | None:
    """Return the longhands of a declaration, or `None` if its value is invalid.

    `text` is the value as written, or empty if the result should not be cached.
    """
    result: list[Longhand] = []
    waiting = [(name, nodes)]
    while waiting:
        property_name, value = waiting.pop(0)
        wide = wide_keyword(value)
        expander = SHORTHANDS.get(property_name)
        if expander is None:
            result.append(Longhand(property_name, tuple(value), f"{name}:{text}" if text else "", wide))
            continue
        longhands = dict.fromkeys(expander(tokens("0")) or {}, value) if wide else expander(value)
        if longhands is None:
            return None
        waiting += list(longhands.items())
    return tuple(result)


@lru_cache(maxsize=4096)
def _expanded_text(name: str, text: str) -> tuple[Longhand, ...] | None:
    return expanded(name, significant(tinycss2.parse_component_value_list(text, skip_comments=True)), text)


@lru_cache(maxsize=256)
def _units(em: float, width: float, height: float, color: Color, density: int) -> Units:
    return Units(em, _ROOT_SIZE * density, width, height, color, density)


@lru_cache(maxsize=8192)
def _value(longhand: Longhand, units: Units) -> object | None:
    return _read(longhand, units)


def _read(longhand: Longhand, units: Units) -> object | None:
    if not longhand.nodes:
        return None
    value: object | None = PROPERTIES[longhand.name].read(absolute(longhand.nodes, units), units)
    return value


@lru_cache(maxsize=1024)
def parsed_style(text: str) -> StyleSheet:
    """Return the declarations of a style attribute.

    Raises:
        InvalidInput: brackets are nested too deeply, or a `url()` is not allowed.
    """
    if _STRUCTURED.search(text):
        return _parsed(text)
    # Without quotes, brackets and comments a semicolon always ends a declaration, and most of those are cached.
    sheets = [_parsed_one(part) for part in text.split(";") if part.strip()]
    return StyleSheet(
        tuple(declaration for sheet in sheets for declaration in sheet.declarations),
        tuple(problem for sheet in sheets for problem in sheet.problems),
    )


@lru_cache(maxsize=4096)
def _parsed_one(text: str) -> StyleSheet:
    return _parsed(text)


def _parsed(text: str) -> StyleSheet:
    _refuse_deep(text)
    declarations: list[Declaration] = []
    problems: list[str] = []
    for node in tinycss2.parse_blocks_contents(text, skip_comments=True, skip_whitespace=True):
        if node.type != "declaration":
            problems.append(f"a style could not be read near {quoted(text[max(0, node.source_column - 1) :][:40])}")
            continue
        nodes = tuple(significant(node.value))
        name = node.name if node.name.startswith("--") else node.lower_name
        _refuse_urls(nodes, name)
        written = tinycss2.serialize(node.value).strip()
        declarations.append(Declaration(name, nodes, node.important, written, "var(" in written.lower()))
    return StyleSheet(tuple(declarations), tuple(problems))


def _refuse_deep(text: str) -> None:
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if depth > MAX_BRACKET_DEPTH:
            raise InvalidInput("html", f"more than {MAX_BRACKET_DEPTH} brackets are nested in a style attribute")


def _refuse_urls(nodes: Iterable[Node], name: str) -> None:
    for node in nodes:
        if (url := url_of(node)) is not None:
            if not url.lower().startswith("data:"):
                raise InvalidInput(
                    "html", f"{name}: url() names {quoted(url)}; only data:image/ URLs are allowed in styles"
                )
            refuse_url(url, f"{name}: url()")
        elif node.type == "function" and node.lower_name in ("src", "image-set", "image", "element"):
            raise InvalidInput(
                "html", f"{name}: {quoted(node.lower_name)[1:-1]}() is not allowed; use url() with data:"
            )
        _refuse_urls(getattr(node, "arguments", None) or getattr(node, "content", None) or (), name)


def _substituted(
    nodes: Iterable[Node], scope: Mapping[str, Sequence[Node]], visited: tuple[str, ...]
) -> list[Node] | None:
    """Return component values with `var()` substituted, or `None` if one has no value (CSS Variables 1, section 3)."""
    result: list[Node] = []
    for node in nodes:
        if isinstance(node, FunctionBlock) and node.lower_name == "var":
            filled = _variable(node, scope, visited)
            if filled is None:
                return None
            result += filled
        elif isinstance(node, FunctionBlock):
            arguments = _substituted(node.arguments, scope, visited)
            if arguments is None:
                return None
            result.append(FunctionBlock(node.source_line, node.source_column, node.name, arguments))
        else:
            result.append(node)
        if len(result) > MAX_VALUES:
            return None
    return result


def _variable(block: FunctionBlock, scope: Mapping[str, Sequence[Node]], visited: tuple[str, ...]) -> list[Node] | None:
    arguments = list(block.arguments)
    comma = next((at for at, node in enumerate(arguments) if node.type == "literal" and node.value == ","), None)
    name_nodes = significant(arguments[:comma] if comma is not None else arguments)
    name = name_nodes[0].value if len(name_nodes) == 1 and name_nodes[0].type == "ident" else ""
    if name in scope and name not in visited and len(visited) < MAX_BRACKET_DEPTH:
        value = _substituted(scope[name], scope, (*visited, name))
        if value is not None:
            return value
    if comma is None:
        return None
    return _substituted(arguments[comma + 1 :], scope, visited)
