"""Keeping secrets out of the paths that are logged.

A link that works once has its token in the path, and a line of the log lives longer than the link. The names of a
route's segments say which hold a secret: `/media/upload/<token>` is logged as `/media/upload/***`.
"""

from __future__ import annotations

from pressroom.observability.secrets import MASK, is_secret_name


class SecretPaths:
    """Masks the secret segments of paths, by the routes that were added."""

    def __init__(self) -> None:
        self._routes: set[tuple[str, ...]] = set()
        self._beginnings: tuple[str, ...] = ()

    def add(self, route: str) -> None:
        """Add a route such as `/media/upload/<token>`; one without a secret changes nothing."""
        segments = route.split("/")
        secret = [number for number, segment in enumerate(segments) if is_secret_segment(segment)]
        if secret:
            self._routes.add(tuple(segments[: secret[-1] + 1]))
            self._beginnings = tuple(sorted({"/".join(one).partition("<")[0] for one in self._routes}))

    def masked(self, path: str) -> str:
        """Return a path with its secrets masked, whatever follows them, and whether or not anything serves it."""
        if not path.startswith(self._beginnings):
            return path
        parts = path.split("/")
        for route in self._routes:
            if len(parts) >= len(route) and all(
                segment.startswith("<") or segment == part for segment, part in zip(route, parts, strict=False)
            ):
                for number, segment in enumerate(route):
                    if is_secret_segment(segment):
                        parts[number] = MASK
        return "/".join(parts)


def is_secret_segment(segment: str) -> bool:
    """Tell whether a segment of a route holds a secret, by its name."""
    return segment.startswith("<") and is_secret_name(segment.strip("<>").partition(":")[0])
