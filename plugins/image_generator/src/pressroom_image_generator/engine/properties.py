"""The supported CSS properties: initial value, inheritance, and the parser of values.

A property is a class attribute of `Style`; its CSS name is the attribute's with hyphens, unless `name` overrides it.
Shorthands are in `shorthands`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Generic, overload

from pressroom.graphics.color import BLACK, TRANSPARENT, Color
from pressroom.graphics.css import Length
from tinycss2.ast import Node

from pressroom_image_generator.engine import css_images, readers
from pressroom_image_generator.engine.css_images import BackgroundSize, CssImage, Position
from pressroom_image_generator.engine.effects import (
    FilterFunction,
    Shape,
    Transform,
    clip_path,
    filters,
    rotation,
    scaling,
    transform,
    translation,
)
from pressroom_image_generator.engine.readers import Reader, ShadowStyle, T, keywords, pixels, size
from pressroom_image_generator.engine.tracks import GridLine, Track, areas, grid_line, track_list
from pressroom_image_generator.engine.values import AnyLength, Edges, Size

PROPERTIES: Final[dict[str, Property[Any]]] = {}
"""All properties by CSS name."""


class Property(Generic[T]):
    """A descriptor for a CSS property. On a `Style` it returns the computed value, by default the initial one."""

    def __init__(self, initial: T, read: Reader[T], *, inherited: bool = False, name: str = "") -> None:
        self.initial = initial
        self.read = read
        self.inherited = inherited
        self.name = name
        self.attribute = ""

    def __set_name__(self, owner: type, attribute: str) -> None:
        self.attribute = attribute
        self.name = self.name or attribute.replace("_", "-")
        PROPERTIES[self.name] = self

    @overload
    def __get__(self, style: None, owner: type) -> Property[T]: ...

    @overload
    def __get__(self, style: Style, owner: type) -> T: ...

    # Without `__set__` this is a non-data descriptor: values in the instance dictionary take precedence at no cost.
    def __get__(self, style: Style | None, owner: type) -> Property[T] | T:
        return self if style is None else self.initial

    def initial_at(self, density: int) -> T:
        """Return the initial value at a pixel density."""
        return self.initial


class PixelProperty(Property[float]):
    """A property whose initial value is a length."""

    @overload
    def __get__(self, style: None, owner: type) -> Property[float]: ...

    @overload
    def __get__(self, style: Style, owner: type) -> float: ...

    def __get__(self, style: Style | None, owner: type) -> Property[float] | float:
        return self if style is None else self.initial_at(style.density)

    def initial_at(self, density: int) -> float:
        """Return the initial value at a pixel density."""
        return self.initial * density


_AUTO: Final[Size] = "auto"
_ZERO: Final = Length()
_NO_LENGTH: Final[Size] = _ZERO
_SQUARE: Final[tuple[AnyLength, AnyLength]] = (_ZERO, _ZERO)
_CURRENT: Final[Color | None] = None
_NO_SHADOWS: Final[tuple[ShadowStyle, ...]] = ()
_NO_FILTERS: Final[tuple[FilterFunction, ...]] = ()
_NO_TRANSFORM: Final[tuple[Transform, ...]] = ()
_BOXES: Final = ("border-box", "padding-box", "content-box")
_BORDER_STYLES: Final = (
    "none", "hidden", "solid", "dashed", "dotted", "double", "groove", "ridge", "inset", "outset",
)  # fmt: skip
_SELF: Final = (
    "auto", "normal", "stretch", "flex-start", "flex-end", "start", "end", "self-start", "self-end", "center",
    "baseline", "first baseline", "last baseline", "left", "right", "safe center", "unsafe center",
)  # fmt: skip
_CONTENT: Final = (
    "normal", "stretch", "flex-start", "flex-end", "start", "end", "center", "left", "right", "space-between",
    "space-around", "space-evenly", "baseline", "safe center", "unsafe center",
)  # fmt: skip
_SIZES: Final = ("auto", "min-content", "max-content", "fit-content")
_LIMITS: Final = ("none", "min-content", "max-content", "fit-content")
_CLIPS: Final = ("visible", "hidden", "clip", "auto", "scroll")
_BLENDS: Final = (
    "normal", "multiply", "screen", "overlay", "darken", "lighten", "color-dodge", "color-burn", "hard-light",
    "soft-light", "difference", "exclusion", "plus-lighter",
)  # fmt: skip


class Style:
    """The computed values of an element, in device pixels; `variables` are its custom properties.

    A CSS pixel has `density` device pixels. `edges` caches the margins, borders and padding for the layout.
    """

    # Boxes
    display = Property("inline", keywords(
        "flex", "inline-flex", "block", "inline", "inline-block", "grid", "inline-grid", "contents", "none",
        "flow-root", "list-item", "table", "table-row", "table-cell", "-webkit-box",
    ))  # fmt: skip
    position = Property("static", keywords("static", "relative", "absolute", "fixed", "sticky"))
    box_sizing = Property("border-box", keywords("border-box", "content-box"))
    visibility = Property("visible", keywords("visible", "hidden", "collapse"), inherited=True)
    direction = Property("ltr", keywords("ltr", "rtl"), inherited=True)
    top = Property(_AUTO, size("auto", negative=True))
    right = Property(_AUTO, size("auto", negative=True))
    bottom = Property(_AUTO, size("auto", negative=True))
    left = Property(_AUTO, size("auto", negative=True))
    z_index = Property[int | str]("auto", readers.z_index)
    overflow_x = Property("visible", keywords(*_CLIPS))
    overflow_y = Property("visible", keywords(*_CLIPS))

    # Sizes
    width = Property(_AUTO, size(*_SIZES))
    height = Property(_AUTO, size(*_SIZES))
    min_width = Property(_AUTO, size(*_SIZES))
    min_height = Property(_AUTO, size(*_SIZES))
    max_width = Property[Size]("none", size(*_LIMITS))
    max_height = Property[Size]("none", size(*_LIMITS))
    aspect_ratio = Property[float | str](0.0, readers.aspect_ratio)
    margin_top = Property(_NO_LENGTH, size("auto", negative=True))
    margin_right = Property(_NO_LENGTH, size("auto", negative=True))
    margin_bottom = Property(_NO_LENGTH, size("auto", negative=True))
    margin_left = Property(_NO_LENGTH, size("auto", negative=True))
    padding_top = Property(_NO_LENGTH, size())
    padding_right = Property(_NO_LENGTH, size())
    padding_bottom = Property(_NO_LENGTH, size())
    padding_left = Property(_NO_LENGTH, size())

    # Flexible boxes
    flex_direction = Property("row", keywords("row", "row-reverse", "column", "column-reverse"))
    flex_wrap = Property("nowrap", keywords("nowrap", "wrap", "wrap-reverse"))
    flex_grow = Property(0.0, readers.non_negative)
    flex_shrink = Property(1.0, readers.non_negative)
    flex_basis = Property(_AUTO, size(*_SIZES, "content"))
    order = Property(0, readers.whole_number)
    justify_content = Property("normal", keywords(*_CONTENT))
    align_content = Property("normal", keywords(*_CONTENT))
    align_items = Property("normal", keywords(*_SELF))
    align_self = Property("auto", keywords(*_SELF))
    justify_items = Property("normal", keywords(*_SELF))
    justify_self = Property("auto", keywords(*_SELF))
    row_gap = Property(_NO_LENGTH, size("normal"))
    column_gap = Property(_NO_LENGTH, size("normal"))

    # Grids
    grid_template_columns = Property[tuple[Track, ...]]((), track_list)
    grid_template_rows = Property[tuple[Track, ...]]((), track_list)
    grid_template_areas = Property[tuple[tuple[str, ...], ...]]((), areas)
    grid_auto_rows = Property[tuple[Track, ...]]((), track_list)
    grid_auto_columns = Property[tuple[Track, ...]]((), track_list)
    grid_auto_flow = Property("row", keywords("row", "column", "row dense", "dense", "column dense"))
    grid_column_start = Property[GridLine](GridLine(), grid_line)
    grid_column_end = Property[GridLine](GridLine(), grid_line)
    grid_row_start = Property[GridLine](GridLine(), grid_line)
    grid_row_end = Property[GridLine](GridLine(), grid_line)

    # Fonts and text
    color = Property(BLACK, readers.color, inherited=True)
    font_family = Property[tuple[str, ...]](("sans-serif",), readers.families, inherited=True)
    font_size = PixelProperty(16.0, readers.font_size, inherited=True)
    font_weight = Property(400.0, readers.font_weight, inherited=True)
    font_style = Property("normal", keywords("normal", "italic", "oblique"), inherited=True)
    font_kerning = Property("auto", keywords("auto", "normal", "none"), inherited=True)
    font_variant_ligatures = Property("normal", keywords("normal", "none"), inherited=True)
    font_variant_numeric = Property(
        "normal",
        keywords("normal", "tabular-nums", "lining-nums", "oldstyle-nums", "proportional-nums", "slashed-zero"),
        inherited=True,
    )
    font_variant_caps = Property(
        "normal",
        keywords("normal", "small-caps", "all-small-caps", "petite-caps", "all-petite-caps", "unicase", "titling-caps"),
        inherited=True,
    )
    font_feature_settings = Property[tuple[tuple[str, int], ...]]((), readers.font_features, inherited=True)
    line_height = Property[float | Length | str]("normal", readers.line_height, inherited=True)
    letter_spacing = Property(0.0, readers.spacing, inherited=True)
    word_spacing = Property(0.0, readers.spacing, inherited=True)
    text_align = Property(
        "start", keywords("start", "end", "left", "right", "center", "justify", "match-parent"), inherited=True
    )
    text_indent = Property(_NO_LENGTH, size(negative=True), inherited=True)
    text_transform = Property("none", keywords("none", "uppercase", "lowercase", "capitalize"), inherited=True)
    white_space = Property(
        "normal", keywords("normal", "nowrap", "pre", "pre-wrap", "pre-line", "break-spaces"), inherited=True
    )
    word_break = Property("normal", keywords("normal", "break-all", "keep-all", "break-word"), inherited=True)
    overflow_wrap = Property("normal", keywords("normal", "break-word", "anywhere"), inherited=True)
    text_wrap = Property("wrap", keywords("wrap", "nowrap", "balance", "pretty", "stable"), inherited=True)
    list_style_type = Property(
        "disc",
        keywords(
            "disc", "circle", "square", "decimal", "lower-alpha", "upper-alpha", "lower-roman", "upper-roman", "none"
        ),
        inherited=True,
    )
    tab_size = Property(8.0, readers.non_negative, inherited=True)
    text_overflow = Property("clip", keywords("clip", "ellipsis"))
    line_clamp = Property(0, readers.line_clamp)
    vertical_align = Property(
        "baseline",
        keywords("baseline", "top", "bottom", "middle", "text-top", "text-bottom", "sub", "super"),
    )
    text_decoration_line = Property[tuple[str, ...]]((), readers.text_lines)
    text_decoration_style = Property("solid", keywords("solid", "double", "dotted", "dashed", "wavy"))
    text_decoration_color = Property(_CURRENT, readers.color)
    text_decoration_thickness = Property[Size]("auto", size("auto", "from-font"))
    text_underline_offset = Property[Size]("auto", size("auto", negative=True), inherited=True)
    text_shadow = Property(_NO_SHADOWS, readers.shadows(spread=False), inherited=True)
    text_stroke_width = Property(0.0, readers.thickness, inherited=True, name="-webkit-text-stroke-width")
    text_stroke_color = Property(_CURRENT, readers.color, inherited=True, name="-webkit-text-stroke-color")
    text_fill_color = Property(_CURRENT, readers.color, inherited=True, name="-webkit-text-fill-color")

    # Backgrounds and borders
    background_color = Property(TRANSPARENT, readers.color)
    background_image = Property[tuple[CssImage | str, ...]](("none",), css_images.layers(css_images.css_image))
    background_position = Property[tuple[Position, ...]]((_SQUARE,), css_images.layers(css_images.background_position))
    background_size = Property[tuple[BackgroundSize, ...]](
        (("auto", "auto"),), css_images.layers(css_images.background_size)
    )
    background_repeat = Property[tuple[tuple[str, str], ...]](
        (("repeat", "repeat"),), css_images.layers(css_images.repeat)
    )
    background_origin = Property[tuple[str, ...]](("padding-box",), css_images.layers(keywords(*_BOXES)))
    background_clip = Property[tuple[str, ...]](("border-box",), css_images.layers(keywords(*_BOXES, "text")))
    border_top_width = PixelProperty(3.0, readers.thickness)
    border_right_width = PixelProperty(3.0, readers.thickness)
    border_bottom_width = PixelProperty(3.0, readers.thickness)
    border_left_width = PixelProperty(3.0, readers.thickness)
    border_top_style = Property("none", keywords(*_BORDER_STYLES))
    border_right_style = Property("none", keywords(*_BORDER_STYLES))
    border_bottom_style = Property("none", keywords(*_BORDER_STYLES))
    border_left_style = Property("none", keywords(*_BORDER_STYLES))
    border_top_color = Property(_CURRENT, readers.color)
    border_right_color = Property(_CURRENT, readers.color)
    border_bottom_color = Property(_CURRENT, readers.color)
    border_left_color = Property(_CURRENT, readers.color)
    border_top_left_radius = Property(_SQUARE, readers.radius)
    border_top_right_radius = Property(_SQUARE, readers.radius)
    border_bottom_right_radius = Property(_SQUARE, readers.radius)
    border_bottom_left_radius = Property(_SQUARE, readers.radius)
    outline_width = PixelProperty(3.0, readers.thickness)
    outline_style = Property("none", keywords(*_BORDER_STYLES))
    outline_color = Property(_CURRENT, readers.color)
    outline_offset = Property(0.0, pixels(negative=True))
    box_shadow = Property(_NO_SHADOWS, readers.shadows(spread=True))

    # Images and effects
    object_fit = Property("fill", keywords("fill", "contain", "cover", "none", "scale-down"))
    object_position = Property[Position](css_images.MIDDLE, css_images.position)
    image_rendering = Property(
        "auto", keywords("auto", "pixelated", "crisp-edges", "smooth", "high-quality"), inherited=True
    )
    opacity = Property(1.0, readers.numeric(0, 1, percent=True))
    transform = Property(_NO_TRANSFORM, transform)
    translate = Property(_NO_TRANSFORM, translation)
    rotate = Property(_NO_TRANSFORM, rotation)
    scale = Property(_NO_TRANSFORM, scaling)
    transform_origin = Property[Position](css_images.MIDDLE, css_images.origin)
    filter = Property(_NO_FILTERS, filters)
    backdrop_filter = Property(_NO_FILTERS, filters)
    clip_path = Property[Shape | None](None, clip_path)
    mask_image = Property[tuple[CssImage | str, ...]](("none",), css_images.layers(css_images.css_image))
    mask_position = Property[tuple[Position, ...]]((_SQUARE,), css_images.layers(css_images.background_position))
    mask_size = Property[tuple[BackgroundSize, ...]]((("auto", "auto"),), css_images.layers(css_images.background_size))
    mask_repeat = Property[tuple[tuple[str, str], ...]]((("repeat", "repeat"),), css_images.layers(css_images.repeat))
    isolation = Property("auto", keywords("auto", "isolate"))
    mix_blend_mode = Property("normal", keywords(*_BLENDS))

    def __init__(self, parent: Style | None = None, *, density: int = 1) -> None:
        self.density: int = parent.density if parent is not None else density
        self.variables: Mapping[str, tuple[Node, ...]] = parent.variables if parent is not None else {}
        self.edges: dict[str, Edges] = {}
        if parent is not None:
            values = vars(parent)
            for attribute in _INHERITED:
                if attribute in values:
                    self.__dict__[attribute] = values[attribute]

    @property
    def transforms(self) -> tuple[Transform, ...]:
        """All transforms in the order in which they apply (CSS Transforms 2, section 6)."""
        return self.translate + self.rotate + self.scale + self.transform

    def set(self, name: str, value: object) -> None:
        """Set the computed value of a property by its CSS name."""
        self.__dict__[PROPERTIES[name].attribute] = value


_INHERITED: Final = tuple(definition.attribute for definition in PROPERTIES.values() if definition.inherited)
