"""How wide columns and how high rows are (CSS Grid 2, section 12)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pressroom_image_generator.engine.layout.sizing import bounded, known
from pressroom_image_generator.engine.tracks import Track


@dataclass(frozen=True, slots=True)
class Contribution:
    """What an item asks of the tracks that it spans."""

    first: int
    span: int
    least: float
    most: float


def track_sizes(
    tracks: Sequence[Track], asked: Sequence[Contribution], room: float | None, gap: float, *, stretch: bool
) -> list[float]:
    """Return the sizes of tracks. `room` is what they and their gaps have, `None` for as much as they like."""
    base = [known(track.least, room) or 0.0 for track in tracks]
    limit = [_limit(track, room) for track in tracks]
    limit = [max(most, least) for most, least in zip(limit, base, strict=True)]
    _grow_to_content(tracks, asked, base, limit, gap)
    flexible = [index for index, track in enumerate(tracks) if track.fraction > 0]
    gaps = gap * max(0, len(tracks) - 1)
    if room is not None:
        _maximise(base, limit, room - gaps, set(flexible))
    else:
        base = [most if math.isfinite(most) and index not in flexible else size
                for index, (size, most) in enumerate(zip(base, limit, strict=True))]  # fmt: skip
    if flexible:
        share = _fraction(tracks, base, flexible, room, gaps)
        for index in flexible:
            base[index] = max(base[index], share * tracks[index].fraction)
    elif stretch and room is not None:
        automatic = [index for index, track in enumerate(tracks) if track.most == "auto"]
        free = room - gaps - sum(base)
        for index in automatic:
            base[index] += max(0.0, free) / len(automatic)
    return [bounded(size) for size in base]


def _limit(track: Track, room: float | None) -> float:
    if track.fraction > 0:
        return math.inf
    size = known(track.most, room)
    return 0.0 if size is None else size


def _grow_to_content(
    tracks: Sequence[Track], asked: Sequence[Contribution], base: list[float], limit: list[float], gap: float
) -> None:
    """Let tracks of automatic size hold their items, those of one track first (section 12.5)."""
    for item in sorted(asked, key=lambda one: one.span):
        spanned = range(item.first, min(item.first + item.span, len(tracks)))
        if not spanned:
            continue
        gaps = gap * (len(spanned) - 1)
        if item.span > 1 and any(tracks[index].fraction for index in spanned):
            continue
        growing = [index for index in spanned if _intrinsic(tracks[index].least)]
        by_most = [index for index in growing if tracks[index].least == "max-content"]
        _spread(base, growing, item.least - gaps - sum(base[index] for index in spanned))
        if by_most:
            _spread(base, by_most, item.most - gaps - sum(base[index] for index in spanned))
        soft = [index for index in spanned if _intrinsic(tracks[index].most) and not tracks[index].fraction]
        wanted = item.least if soft and all(tracks[index].most == "min-content" for index in soft) else item.most
        _spread(limit, soft, wanted - gaps - sum(_finite(limit[index], base[index]) for index in spanned))
    for index, size in enumerate(base):
        limit[index] = max(limit[index], size)


def _finite(value: float, otherwise: float) -> float:
    return value if math.isfinite(value) else otherwise


def _intrinsic(size: object) -> bool:
    return isinstance(size, str)


def _spread(sizes: list[float], indices: Sequence[int], more: float) -> None:
    if more > 0 and indices:
        for index in indices:
            sizes[index] += more / len(indices)


def _maximise(base: list[float], limit: list[float], room: float, flexible: set[int]) -> None:
    """Share out free room evenly, up to each track's limit (section 12.6)."""
    growing = [index for index in range(len(base)) if index not in flexible and limit[index] > base[index]]
    free = room - sum(base)
    while growing and free > 1e-6:
        step = min(free / len(growing), *(limit[index] - base[index] for index in growing))
        for index in growing:
            base[index] += step
        free -= step * len(growing)
        growing = [index for index in growing if limit[index] - base[index] > 1e-6]


def _fraction(
    tracks: Sequence[Track], base: list[float], flexible: list[int], room: float | None, gaps: float
) -> float:
    """Return the size of 1fr: tracks whose content needs more than their share keep it (section 12.7.1)."""
    if room is None:
        return max(base[index] / max(tracks[index].fraction, 1.0) for index in flexible)
    sharing = list(flexible)
    while sharing:
        fixed = sum(size for index, size in enumerate(base) if index not in sharing)
        total = sum(tracks[index].fraction for index in sharing)
        share = max(0.0, room - gaps - fixed) / max(total, 1.0)
        over = [index for index in sharing if base[index] > share * tracks[index].fraction + 1e-6]
        if not over:
            return share
        sharing = [index for index in sharing if index not in over]
    return 0.0
