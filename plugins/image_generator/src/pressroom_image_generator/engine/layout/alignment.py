"""What the alignment properties mean in pixels (CSS Box Alignment 3)."""

from __future__ import annotations

from typing import Final

_STARTS: Final = frozenset({"start", "self-start", "flex-start", "left", "normal", "baseline", "stretch"})
_ENDS: Final = frozenset({"end", "self-end", "flex-end", "right"})


def item_alignment(own: str, container: str) -> str:
    """Return how an item is aligned: `stretch`, `start`, `center`, `end` or `baseline`."""
    value = container if own == "auto" else own
    if value in ("normal", "auto", "stretch"):
        return "stretch"
    if value.endswith("baseline"):
        return "baseline"
    if value.endswith("center"):
        return "center"
    return value if value in ("flex-start", "flex-end") else "end" if value in _ENDS else "start"


def aligned_offset(alignment: str, slack: float, *, reverse: bool) -> float:
    """Return how far an item stands from the start, with that much room to spare.

    `reverse` is for an axis that runs backwards, which turns `flex-start` and `flex-end` round.
    """
    if alignment == "center":
        return slack / 2
    at_end = alignment in _ENDS
    return slack if at_end != reverse else 0.0


def content_distribution(mode: str, slack: float, count: int, normal: str) -> tuple[float, float, float]:
    """Return the room before the first, between two, and how much each grows. `normal` is what that keyword means."""
    mode = normal if mode == "normal" else mode
    if count == 0:
        return 0.0, 0.0, 0.0
    if mode == "stretch":
        return 0.0, 0.0, max(0.0, slack) / count
    if mode == "space-between":
        return 0.0, (slack / (count - 1) if count > 1 and slack > 0 else 0.0), 0.0
    if mode in ("space-around", "space-evenly"):
        if slack <= 0:
            # Both fall back to a safe centre.
            return 0.0, 0.0, 0.0
        part = slack / count if mode == "space-around" else slack / (count + 1)
        return (part / 2 if mode == "space-around" else part), part, 0.0
    if mode.endswith("center"):
        return (max(0.0, slack) if mode.startswith("safe") else slack) / 2, 0.0, 0.0
    return (slack if mode in _ENDS else 0.0), 0.0, 0.0


def static_alignment(justify: str, align: str) -> tuple[str, str]:
    """Return where an absolute child of a flex container stands along it and across it."""

    def plain(value: str) -> str:
        if value.endswith("center") or value in ("space-around", "space-evenly"):
            return "center"
        return "end" if value in _ENDS else "start"

    return plain(justify), plain(align)
