"""Fits texts into areas: computes their sizes and line breaks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from pressroom.graphics.segments import line_units
from pressroom.graphics.text import (
    FontLibrary,
    TextStyle,
    break_lines,
    clamp_lines,
    default_library,
    ellipsized,
    shape,
)

TITLE_LEADING: Final = 1.12
SUBTITLE_LEADING: Final = 1.42
_TALL: Final = (
    ("\u0600", "\u109f", 1.3),
    ("\u1100", "\u11ff", 1.2),
    ("\u1780", "\u17ff", 1.3),
    ("\u2e80", "\ud7ff", 1.2),
    ("\uf900", "\ufaff", 1.2),
    ("\ufb50", "\ufefc", 1.3),
    ("\U0001f000", "\U0001faff", 1.26),
    ("\U00020000", "\U0003ffff", 1.2),
)
"""Line heights for titles in scripts taller than Latin: with marks above and below, square characters, or emoji."""

_SUBTITLE: Final = 0.42
"""Size of a subtitle relative to its title."""

_MIN_SUBTITLE: Final = 0.8
_MIN_EYEBROW: Final = 0.7
"""Minimum sizes relative to the minimum size of a title."""

_TRACKING: Final = -0.02
_PLAIN_FAMILY: Final = "Inter"
"""Family for titles in other scripts: those have no serifs and no negative tracking."""

_PLAIN_WEIGHT: Final = 700
_JOINER: Final = "\u2060"
_IN_KOREAN_WORD: Final = re.compile("(?<=[\uac00-\ud7a3])(?=[\uac00-\ud7a3])")
_MIN_LENGTH_SHARE: Final = 0.7
"""Minimum share of a line to keep when cutting at a word boundary."""

_STEPS: Final = 40
_SLACK: Final = 1.0
"""Pixels that lines leave free, so that rounding differences do not break them."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of title sizes in pixels, the title's font, and the line limits.

    A title takes more lines than `title_lines` before any of it is cut.
    """

    largest: float
    smallest: float
    family: str = "Inter"
    weight: int = 800
    title_lines: int = 4
    subtitle_lines: int = 3
    subtitle_largest: float = 1000.0


@dataclass(frozen=True, slots=True)
class TypesetText:
    """Text set in lines. All lengths are in pixels; `leading` is the distance between baselines."""

    lines: tuple[str, ...] = ()
    size: float = 0.0
    leading: float = 0.0
    tracking: float = 0.0
    family: str = "Inter"
    weight: int = 400
    right_to_left: bool = False

    @property
    def height(self) -> float:
        """Total height of the lines."""
        return len(self.lines) * self.leading


@dataclass(frozen=True, slots=True)
class Copy:
    """The texts in the middle of a card. `gap` is the space between them; missing texts are empty."""

    eyebrow: TypesetText
    title: TypesetText
    subtitle: TypesetText
    gap: float

    @property
    def height(self) -> float:
        """Total height of the texts and the gaps between them."""
        parts = [part.height for part in (self.eyebrow, self.title, self.subtitle) if part.lines]
        return sum(parts) + self.gap * max(0, len(parts) - 1)


@lru_cache(maxsize=1)
def _library() -> FontLibrary:
    return default_library()


def is_right_to_left(text: str) -> bool:
    """Return whether a text starts in a right-to-left script."""
    return shape(text, TextStyle(16), _library()).right_to_left


def one_line(text: str, width: float, size: float, weight: int = 400, tracking: float = 0.0) -> TypesetText:
    """Set a text as one line, truncated with an ellipsis if it is too wide."""
    if not text:
        return TypesetText()
    style = TextStyle(size, weight=weight, letter_spacing=tracking)
    line = ellipsized(text, style, _library(), max(0.0, width - _SLACK))
    return TypesetText((line,), size, size * 1.3, tracking, weight=weight, right_to_left=is_right_to_left(text))


def line_width(lines: TypesetText) -> float:
    """Return the width of the widest line."""
    return max((shape(line, _style(lines), _library()).width for line in lines.lines), default=0.0)


def set_copy(eyebrow: str, title: str, subtitle: str, width: float, height: float, scale: Scale) -> Copy:
    """Set the texts in balanced lines, as large as they fit into an area.

    A title shrinks before any of its words is broken. Text that does not fit at the smallest size is cut, the subtitle
    first.
    """
    setting = _Setting(eyebrow, title, subtitle, width, height, scale)
    return setting.whole(scale.title_lines) or setting.whole(None) or setting.shortened() or setting.cut()


def fit_text(text: str, width: float, height: float, scale: Scale) -> TypesetText:
    """Set one text in balanced lines, as large as it fits into an area."""
    return set_copy("", text, "", width, height, scale).title if text else TypesetText()


class _Setting:
    """Sets one group of texts in one area, at any size."""

    def __init__(self, eyebrow: str, title: str, subtitle: str, width: float, height: float, scale: Scale) -> None:
        self._eyebrow, self._title, self._subtitle = eyebrow, _unbroken(title), _unbroken(subtitle)
        self._leading = _leading(title)
        self._width, self._height, self._scale = max(1.0, width - _SLACK), height, scale

    def whole(self, title_lines: int | None) -> Copy | None:
        """Return the full texts in balanced lines, or `None` if they do not fit at any size."""
        words_fit = _widest_word(self._title, self._title_style(self._scale.smallest)) <= self._width

        def fits(copy: Copy) -> bool:
            return self._fits(copy, title_lines) and not (words_fit and self._breaks_word(copy))

        largest = self._largest(self.at, fits)
        return None if largest is None else self.balanced(largest)

    def shortened(self) -> Copy | None:
        """Return the full title and the subtitle cut at its smallest size, or `None` if that does not fit."""
        min_size = self._scale.smallest * _MIN_SUBTITLE
        max_lines = self._scale.subtitle_lines

        def at(part: float) -> Copy:
            copy = self.at(part)
            return replace(copy, subtitle=self._clamped(copy.subtitle, max_lines))

        largest = self._largest(
            at, lambda copy: copy.subtitle.size <= min_size and self._fits(copy, None) and not self._breaks_word(copy)
        )
        return None if largest is None else replace(largest, title=self._balanced(self._title, largest.title))

    @staticmethod
    def _largest(at: Callable[[float], Copy], fits: Callable[[Copy], bool]) -> Copy | None:
        low, high, best = 0, _STEPS, None
        while low <= high:
            middle = (low + high) // 2
            copy = at(middle / _STEPS)
            if fits(copy):
                low, best = middle + 1, copy
            else:
                high = middle - 1
        return best

    def _breaks_word(self, copy: Copy) -> bool:
        return _widest_word(self._title, _style(copy.title)) > self._width

    def at(self, part: float) -> Copy:
        """Return the texts with the title's size between the smallest (0) and the largest (1)."""
        scale = self._scale
        size = scale.smallest + (scale.largest - scale.smallest) * part
        small = min(size * _SUBTITLE, scale.subtitle_largest)
        small = max(small, scale.smallest * _MIN_SUBTITLE)
        return Copy(
            eyebrow=one_line(self._eyebrow, self._width, max(small * 0.82, scale.smallest * _MIN_EYEBROW), 600),
            title=self._set(self._title, self._title_style(size), self._leading),
            subtitle=self._set(self._subtitle, TextStyle(small), SUBTITLE_LEADING),
            gap=max(size * 0.3, scale.smallest * 0.5),
        )

    def _fits(self, copy: Copy, title_lines: int | None) -> bool:
        """Return whether the texts fit into the area and the line limits."""
        return (
            copy.height <= self._height
            and (title_lines is None or len(copy.title.lines) <= title_lines)
            and len(copy.subtitle.lines) <= self._scale.subtitle_lines
        )

    def balanced(self, copy: Copy) -> Copy:
        """Balance the lines of the texts without adding any."""
        return Copy(
            copy.eyebrow,
            self._balanced(self._title, copy.title),
            self._balanced(self._subtitle, copy.subtitle),
            copy.gap,
        )

    def cut(self) -> Copy:
        """Return as much as fits at the smallest size, at least one line of the title."""
        copy = self.at(0)
        title, subtitle, gap = copy.title, copy.subtitle, copy.gap
        eyebrow = copy.eyebrow if copy.eyebrow.height + gap + title.leading <= self._height else TypesetText()
        available = self._height - (eyebrow.height + gap if eyebrow.lines else 0)
        title = self._clamped(title, int(available / title.leading) if title.lines else 0)
        available -= title.height + gap
        lines = min(self._scale.subtitle_lines, int(available / subtitle.leading)) if subtitle.lines else 0
        return Copy(eyebrow, title, self._clamped(subtitle, lines, min_lines=0), gap)

    def _title_style(self, size: float) -> TextStyle:
        family, weight = self._scale.family, self._scale.weight
        alone = all(map(_stands_alone, self._title))
        if family != _PLAIN_FAMILY and not alone:
            family, weight = _PLAIN_FAMILY, _PLAIN_WEIGHT
        tracking = size * _TRACKING if alone and family == _PLAIN_FAMILY else 0.0
        return TextStyle(size, (family,), weight=weight, letter_spacing=tracking)

    def _set(self, text: str, style: TextStyle, leading: float) -> TypesetText:
        if not text:
            return TypesetText()
        return TypesetText(
            _broken(text, style, self._width),
            style.size,
            style.size * leading,
            style.letter_spacing,
            style.families[0],
            int(style.weight),
            is_right_to_left(text),
        )

    def _balanced(self, text: str, lines: TypesetText) -> TypesetText:
        """Narrow the lines as far as possible without adding any."""
        count, style = len(lines.lines), _style(lines)
        if count < 2:
            return lines
        low, high = self._width / count, self._width
        widest = _widest_word(text, style)
        if widest <= self._width:
            low = max(low, widest)
        narrowest = lines.lines
        while high - low > lines.size / 8:
            middle = (low + high) / 2
            broken = _broken(text, style, middle)
            if len(broken) <= count:
                high, narrowest = middle, broken
            else:
                low = middle
        return replace(lines, lines=narrowest)

    def _clamped(self, lines: TypesetText, max_lines: int, *, min_lines: int = 1) -> TypesetText:
        if len(lines.lines) <= max(max_lines, min_lines):
            return lines
        if max(max_lines, min_lines) == 0:
            return TypesetText()
        max_lines = max(max_lines, min_lines)
        clamped = clamp_lines(lines.lines, max_lines, _style(lines), _library(), self._width)
        last = _cut_after_word(clamped[-1], f"{lines.lines[max_lines - 1]} {lines.lines[max_lines]}")
        return replace(lines, lines=(*clamped[:-1], last))


def _stands_alone(character: str) -> bool:
    """Return whether tracking can be reduced at a character: Latin, Greek and Cyrillic letters do not join."""
    if character < "\u0530" or "\ufe00" <= character <= "\ufe0f":
        return True
    return unicodedata.category(character)[0] not in "LM"


def _leading(text: str) -> float:
    """Return the line height of a title as a multiple of its size."""
    return max(
        (leading for first, last, leading in _TALL for character in text if first <= character <= last),
        default=TITLE_LEADING,
    )


def _unbroken(text: str) -> str:
    """Prevent breaks inside Korean words: by default, lines break at any syllable."""
    return _IN_KOREAN_WORD.sub(_JOINER, text)


def _broken(text: str, style: TextStyle, width: float) -> tuple[str, ...]:
    return tuple(line.replace(_JOINER, "") for line in break_lines(text, style, _library(), width))


def _cut_after_word(line: str, text: str) -> str:
    """End a truncated line with an ellipsis at a word boundary, unless too little would remain."""
    end = 0
    max_length = len(line) - 1
    for unit in line_units(text):
        if end + len(unit.rstrip()) > max_length:
            break
        end += len(unit)
    return f"{text[:end].rstrip()}…" if end >= _MIN_LENGTH_SHARE * max_length else line


def _widest_word(text: str, style: TextStyle) -> float:
    """Return the width of the widest unbreakable part."""
    parts = (part.rstrip() for part in line_units(text))
    shown = (f"{part}-" if part.endswith("\u00ad") else part for part in parts)
    return max((shape(part, style, _library()).width for part in shown), default=0.0)


def _style(lines: TypesetText) -> TextStyle:
    return TextStyle(lines.size, (lines.family,), weight=lines.weight, letter_spacing=lines.tracking)
