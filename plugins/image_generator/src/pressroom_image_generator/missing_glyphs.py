"""Texts of templates without the characters that no font has: link previews never show boxes."""

from __future__ import annotations

from typing import Final

from pressroom.graphics.segments import grapheme_clusters
from pressroom.graphics.text import missing_characters

from pressroom_image_generator.params import TemplateProps, shown_text

_MAX_NAMED: Final = 12
"""How many characters a warning names."""


def without_missing(props: TemplateProps) -> tuple[TemplateProps, tuple[str, ...]]:
    """Return the props with texts that can be drawn, and a warning for each text that lost something."""
    kept: dict[str, str | tuple[str, ...]] = {}
    warnings: list[str] = []
    for name, text in props.texts():
        if missing := missing_characters(text):
            kept[name] = _without(text, missing)
            warnings.append(_warning(name, missing, empty=not kept[name]))
    if missing := missing_characters(" ".join(props.items)):
        kept["items"] = tuple(rest for item in props.items if (rest := _without(item, missing)))
        warnings.append(_warning("items", missing, empty=not kept["items"]))
    return (props.model_copy(update=kept) if kept else props), tuple(warnings)


def _without(text: str, missing: tuple[str, ...]) -> str:
    lacking = frozenset(missing)
    return shown_text("".join(cluster for cluster in grapheme_clusters(text) if lacking.isdisjoint(cluster)))


def _warning(name: str, missing: tuple[str, ...], *, empty: bool) -> str:
    more = f" and {len(missing) - _MAX_NAMED} more" if len(missing) > _MAX_NAMED else ""
    # What this Python does not know yet cannot be printed either.
    characters = (one if one.isprintable() else f"(U+{ord(one):04X})" for one in missing[:_MAX_NAMED])
    named = f'"{"".join(characters)}"{more}'
    lost = "the whole text is left out" if empty else "they are left out" if len(missing) > 1 else "it is left out"
    return f"props.{name}: no font of this server has {named}; {lost}. Its operator can add a font."
