"""The URL frontier of a crawl: URLs waiting to be requested, and those refused.

Sites can generate endless URLs: infinite calendars, filter combinations, relative links that grow with every click.
Refused URLs are counted by reason for the report.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from pressroom_seo.urls import SiteScope, shape

Reason = Literal["deep", "repetitive", "parameters", "queries", "alike", "full"]
"""Why a URL is refused: too many links from the home page, repeated or too many path segments, too many query
parameters, too many query strings on one path, a URL pattern whose pages repeat each other, or a full frontier."""

_VERSION: Final = 1
_SAMPLES = 5
_WINDOW = 40
_MIN_NEW = 8
_MAX_FORMS = 500
_MAX_SHAPES = 5000


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a crawl.

    Args:
        pages: maximum number of URLs to request.
        depth: maximum number of links from the home page.
        known: maximum number of URLs to keep; 0 for ten times `pages`, at least 5000.
        queries: maximum number of different query strings per path.
        parameters: maximum number of parameters in a query string.
        segments: maximum number of path segments.
        repeats: how often one segment may occur in a path.
    """

    pages: int
    depth: int = 25
    known: int = 0
    queries: int = 100
    parameters: int = 8
    segments: int = 20
    repeats: int = 3

    @property
    def max_known(self) -> int:
        """Maximum number of URLs to keep."""
        return self.known or max(5000, 10 * self.pages)


@dataclass(frozen=True, slots=True)
class FrontierItem:
    """A URL to request."""

    url: str
    depth: int | None
    found_on: str = ""


class Frontier:
    """The URLs of one site: linked URLs first, nearest first, then those only listed in sitemaps.

    `state` returns plain JSON data; a frontier restored from it requests the URLs in flight again.
    """

    def __init__(self, site: SiteScope, limits: Limits) -> None:
        self._site = site
        self._limits = limits
        self._depths: dict[str, int | None] = {}
        self._found_on: dict[str, str] = {}
        self._queue: deque[str] = deque()
        self._late: deque[str] = deque()
        self._under_way: dict[str, FrontierItem] = {}
        self._queries: Counter[str] = Counter()
        self._shapes: dict[str, _Shape] = {}
        self._refused: dict[str, list[Any]] = {}

    def __len__(self) -> int:
        """Return the number of waiting URLs."""
        return len(self._found_on)

    @property
    def known(self) -> int:
        """Number of URLs accepted so far."""
        return len(self._depths)

    @property
    def under_way(self) -> int:
        """Number of URLs in flight: taken but not done."""
        return len(self._under_way)

    @property
    def refused(self) -> Mapping[str, tuple[int, tuple[str, ...]]]:
        """Number of refused URLs, with samples, by reason."""
        return {reason: (count, tuple(samples)) for reason, (count, samples) in self._refused.items()}

    def add(self, url: str, depth: int | None, found_on: str = "") -> bool:
        """Add a normalised URL of the site. Returns whether it was newly queued.

        `depth` is `None` if only a sitemap lists it; a later link to it moves it forward.
        """
        if url in self._depths:
            self._nearer(url, depth, found_on)
            return False
        reason = self._reason(url, depth)
        if reason is not None:
            self._refuse(reason, url)
            return False
        self._depths[url] = depth
        self._found_on[url] = found_on
        (self._late if depth is None else self._queue).append(url)
        if "?" in url:
            self._queries[url.partition("?")[0]] += 1
        return True

    def take(self) -> FrontierItem | None:
        """Take the next URL.

        Returns `None` if no URL is waiting, or if only sitemap URLs are and an in-flight page may still link to them.
        """
        linked = any(item.depth is not None for item in self._under_way.values())
        for queue in (self._queue,) if linked else (self._queue, self._late):
            while queue:
                url = queue.popleft()
                if url not in self._found_on:
                    continue
                found_on = self._found_on.pop(url)
                if self._is_alike(url):
                    self._refuse("alike", url)
                    continue
                item = FrontierItem(url, self._depths[url], found_on)
                self._under_way[url] = item
                return item
        return None

    def done(self, item: FrontierItem, form: str = "") -> None:
        """Mark a URL as done. `form` is the page's `form_hash`; empty if the URL is not a page."""
        self._under_way.pop(item.url, None)
        if form:
            self._shape(item.url).note(form)

    def put_back(self, item: FrontierItem) -> None:
        """Put a URL back at the front of the queue."""
        self._under_way.pop(item.url, None)
        self._found_on[item.url] = item.found_on
        self._queue.appendleft(item.url)

    def _nearer(self, url: str, depth: int | None, found_on: str) -> None:
        before = self._depths[url]
        if depth is None or (before is not None and before <= depth):
            return
        self._depths[url] = depth
        if url in self._found_on:
            self._found_on[url] = found_on
            if before is None:
                self._queue.append(url)

    def _reason(self, url: str, depth: int | None) -> Reason | None:
        limits = self._limits
        if depth is not None and depth > limits.depth:
            return "deep"
        parts = urlsplit(url)
        segments = [segment for segment in parts.path.split("/") if segment]
        if len(segments) > limits.segments or max(Counter(segments).values(), default=0) > limits.repeats:
            return "repetitive"
        if parts.query.count("&") >= limits.parameters:
            return "parameters"
        if parts.query and self._queries[url.partition("?")[0]] >= limits.queries:
            return "queries"
        if self._is_alike(url):
            return "alike"
        return "full" if len(self._depths) >= limits.max_known else None

    def _refuse(self, reason: Reason, url: str) -> None:
        entry = self._refused.setdefault(reason, [0, []])
        entry[0] += 1
        if len(entry[1]) < _SAMPLES:
            entry[1].append(url)

    def _is_alike(self, url: str) -> bool:
        group = self._shapes.get(shape(url))
        return group is not None and group.is_endless

    def _shape(self, url: str) -> _Shape:
        key = shape(url)
        if key not in self._shapes and len(self._shapes) >= _MAX_SHAPES:
            self._shapes.pop(next(iter(self._shapes)))
        return self._shapes.setdefault(key, _Shape())

    def state(self) -> dict[str, Any]:
        """Return plain JSON data from which the frontier can resume."""
        return {
            "version": _VERSION,
            "depths": dict(self._depths),
            "queue": [[item.url, item.found_on] for item in self._under_way.values()]
            + [[url, self._found_on[url]] for url in self._queue if url in self._found_on],
            "late": [[url, self._found_on[url]] for url in self._late if url in self._found_on],
            "queries": dict(self._queries),
            "shapes": {key: group.state() for key, group in self._shapes.items() if group.recent.count("0")},
            "refused": {reason: [count, list(samples)] for reason, (count, samples) in self._refused.items()},
        }

    @classmethod
    def from_state(cls, site: SiteScope, limits: Limits, state: Mapping[str, Any]) -> Frontier:
        """Restore a frontier. Raises `ValueError` if the state has another version."""
        if state.get("version") != _VERSION:
            raise ValueError(f"the state of the frontier is of version {state.get('version')}, not {_VERSION}")
        frontier = cls(site, limits)
        frontier._depths.update(state["depths"])
        for queue, entries in ((frontier._queue, state["queue"]), (frontier._late, state["late"])):
            for url, found_on in entries:
                if url not in frontier._found_on:
                    frontier._found_on[url] = found_on
                    queue.append(url)
        frontier._queries.update(state["queries"])
        frontier._shapes.update({key: _Shape.from_state(group) for key, group in state["shapes"].items()})
        frontier._refused.update({reason: [count, list(urls)] for reason, (count, urls) in state["refused"].items()})
        return frontier


class _Shape:
    """The pages whose URLs share one shape, and how many of the latest had new content."""

    def __init__(self, forms: Iterable[str] = (), recent: str = "") -> None:
        self._forms = dict.fromkeys(forms)
        self.recent = recent

    @property
    def is_endless(self) -> bool:
        """Whether fewer than eight of the last forty pages had content not seen before."""
        return len(self.recent) >= _WINDOW and self.recent.count("1") < _MIN_NEW

    def note(self, form: str) -> None:
        """Record the form hash of one page."""
        short = form[:12]
        self.recent = (self.recent + ("0" if short in self._forms else "1"))[-_WINDOW:]
        self._forms[short] = None
        if len(self._forms) > _MAX_FORMS:
            del self._forms[next(iter(self._forms))]

    def state(self) -> list[Any]:
        """Return plain JSON data for `from_state`."""
        return [list(self._forms), self.recent]

    @classmethod
    def from_state(cls, state: list[Any]) -> _Shape:
        """Restore a shape from `state`."""
        forms, recent = state
        return cls(forms, recent)
