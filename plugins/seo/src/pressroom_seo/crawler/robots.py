"""robots.txt (RFC 9309): parsing and matching of one crawler's rules, in time proportional to their length."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from urllib.parse import quote, urlsplit

AGENT: Final = "Pressroom"
"""The crawler's product token, matched against the groups of robots.txt (RFC 9309, section 2.2.1)."""

MAX_ROBOTS_BYTES: Final = 512_000
"""Maximum number of bytes of robots.txt to parse (RFC 9309, section 2.5)."""

SEARCH_ENGINE: Final = "Googlebot"
"""The search engine whose rules are evaluated as well."""

_USER_AGENT: Final = frozenset({"user-agent", "useragent", "user agent"})
_DISALLOW: Final = frozenset({"disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"})
_CRAWL_DELAY: Final = frozenset({"crawl-delay", "crawl delay"})
_SITEMAP: Final = frozenset({"sitemap", "sitemaps", "site-map"})
_FIELDS: Final = _USER_AGENT | _DISALLOW | _CRAWL_DELAY | _SITEMAP | {"allow"}
"""The recognised fields, including misspellings that other crawlers accept too."""

_KNOWN: Final = _FIELDS | {"host", "clean-param", "request-rate", "visit-time"}
_MAX_SITEMAPS = 100
_MAX_PROBLEMS = 20
_TOKEN = re.compile(r"[a-z_-]*")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PRINTABLE: Final = "".join(map(chr, range(0x21, 0x7F)))
_INDEX: Final = "/index.html"


@dataclass(frozen=True)
class RobotsRules:
    """The rules for one crawler, or else those for `*`. `rules` pairs each pattern with whether it allows."""

    rules: tuple[tuple[str, bool], ...] = ()
    crawl_delay: float = 0.0
    sitemaps: tuple[str, ...] = ()

    @classmethod
    def read(cls, text: str, agent: str = AGENT) -> RobotsRules:
        """Parse the rules that apply to a crawler. Unrecognised lines are ignored."""
        groups = {agent.lower(): _Group(), "*": _Group()}
        sitemaps: dict[str, None] = {}
        current: dict[str, _Group] = {}
        names = False
        for line in text.splitlines():
            name, value = _field(line.partition("#")[0].strip())
            if name in _USER_AGENT:
                current = current if names else {}
                names = True
                token = "*" if value.startswith("*") else _token(value)
                if token in groups:
                    groups[token].named = True
                    current[token] = groups[token]
            elif name in _SITEMAP:
                if value and len(sitemaps) < _MAX_SITEMAPS:
                    sitemaps[value] = None
            elif name:
                # Other fields do not end the list of user agents (RFC 9309, section 2.2.4).
                names = names and not _is_rule(name)
                for group in current.values():
                    group.add(name, value)
        agent_group = groups[agent.lower()]
        selected = agent_group if agent_group.named else groups["*"]
        return cls(tuple(selected.rules.items()), selected.crawl_delay, tuple(sitemaps))

    def allow(self, url: str) -> bool:
        """Return whether a URL may be fetched. The longest matching pattern wins; allow wins a tie."""
        parts = urlsplit(url)
        if parts.path == "/robots.txt":
            return True
        query = f"?{parts.query}" if "?" in url.partition("#")[0] else ""
        path = _octets(f"{parts.path or '/'}{query}")
        is_prefixed = path.startswith(self._prefixes)
        for pattern, allows in self._sorted if is_prefixed else self._special:
            if _matches(pattern, path):
                return allows
        return True

    @cached_property
    def _sorted(self) -> tuple[tuple[str, bool], ...]:
        return tuple(sorted(self.rules, key=lambda rule: (len(rule[0]), rule[1]), reverse=True))

    @cached_property
    def _special(self) -> tuple[tuple[str, bool], ...]:
        return tuple(rule for rule in self._sorted if _is_special(rule[0]))

    @cached_property
    def _prefixes(self) -> tuple[str, ...]:
        return tuple(pattern for pattern, _ in self.rules if not _is_special(pattern))


class _Group:
    """The merged groups of a crawler."""

    def __init__(self) -> None:
        self.named = False
        self.rules: dict[str, bool] = {}
        self.crawl_delay = 0.0

    def add(self, name: str, value: str) -> None:
        if name in _CRAWL_DELAY:
            try:
                seconds = float(value)
            except ValueError:
                return
            self.crawl_delay = seconds if math.isfinite(seconds) and seconds >= 0 else self.crawl_delay
        elif value and _is_rule(name):
            pattern, allows = _octets(value), name == "allow"
            self._rule(pattern, allows=allows)
            if allows and pattern.endswith(_INDEX):  # a folder is the same page as its index.html
                self._rule(f"{pattern.removesuffix('index.html')}$", allows=True)

    def _rule(self, pattern: str, *, allows: bool) -> None:
        self.rules[pattern] = self.rules.get(pattern, False) or allows


def _is_rule(name: str) -> bool:
    return name == "allow" or name in _DISALLOW


def _field(line: str) -> tuple[str, str]:
    """Return a line's field name and value, even if the colon is missing. An unknown name is kept if it has one."""
    name, _, value = line.partition(":")
    name = name.strip().lower()
    if name in _FIELDS:
        return name, value.strip()
    first, *rest = line.split(None, 2) or [""]
    for words in (1, 2):
        candidate = " ".join([first, *rest[: words - 1]]).lower()
        if candidate in _FIELDS:
            return candidate, " ".join(rest[words - 1 :]).strip()
    return name if ":" in line else "", value.strip()


def _token(value: str) -> str:
    match = _TOKEN.match(value.lower())
    return match[0] if match else ""


def _octets(text: str) -> str:
    """Normalise the percent-encoding of a path or pattern for comparison (RFC 9309, section 2.2.2)."""
    if text.isascii() and text.isprintable() and "%" not in text and " " not in text:
        return text

    def octet(match: re.Match[str]) -> str:
        character = chr(int(match[1], 16))
        return character if character in _UNRESERVED else match[0].upper()

    return quote(_ESCAPE.sub(octet, text), safe=_PRINTABLE, errors="replace")


def _is_special(pattern: str) -> bool:
    return "*" in pattern or pattern.endswith("$")


def _matches(pattern: str, path: str) -> bool:
    """Return whether a pattern matches the start of a path. `*` matches any text; a final `$` anchors the end."""
    is_anchored = pattern.endswith("$")
    first, *rest = (pattern.removesuffix("$") if is_anchored else pattern).split("*")
    if not path.startswith(first):
        return False
    if not rest:
        return not is_anchored or len(path) == len(first)
    offset = len(first)
    for part in rest[:-1]:
        position = path.find(part, offset)
        if position < 0:
            return False
        offset = position + len(part)
    if is_anchored:
        return path.endswith(rest[-1]) and len(path) - len(rest[-1]) >= offset
    return path.find(rest[-1], offset) >= 0


@dataclass(frozen=True, slots=True)
class Robots:
    """A host's robots.txt.

    `status` is the HTTP status, 0 without a response. `unreachable` has the RFC's meaning: the server failed, and
    everything counts as disallowed.
    """

    status: int
    unreachable: bool = False
    text: str = ""
    truncated: bool = False
    busy: float | None = None
    """Seconds until it may be requested again; `None` unless that exceeds the crawler's longest wait."""
    rules: RobotsRules | None = None
    engine_rules: RobotsRules | None = None

    @classmethod
    def read(cls, status: int, content: bytes, *, truncated: bool = False) -> Robots:
        """Parse a response (RFC 9309, section 2.3.1).

        A 4xx status, or an unresolved redirect, allows everything. A 5xx status, 429 or no response disallows
        everything; search engines treat 429 as a failure of the server too.
        """
        if status in (0, 429) or status >= 500:
            return cls(status, unreachable=True)
        if status >= 300:
            return cls(status)
        text = content[:MAX_ROBOTS_BYTES].decode("utf-8", "replace").removeprefix("\ufeff").replace("\0", "")
        return cls(
            status,
            text=text,
            truncated=truncated or len(content) > MAX_ROBOTS_BYTES,
            rules=RobotsRules.read(text),
            engine_rules=RobotsRules.read(text, SEARCH_ENGINE),
        )

    def allows(self, url: str) -> bool:
        """Return whether a URL may be fetched."""
        return not self.unreachable and (self.rules is None or self.rules.allow(url))

    def allows_search_engine(self, url: str) -> bool:
        """Return whether the search engine may fetch a URL."""
        return not self.unreachable and (self.engine_rules is None or self.engine_rules.allow(url))

    @property
    def crawl_delay(self) -> float:
        """The requested delay between requests, in seconds; 0 without one."""
        return self.rules.crawl_delay if self.rules is not None else 0.0

    @property
    def sitemaps(self) -> list[str]:
        """The sitemap URLs, as written."""
        return [] if self.rules is None else list(self.rules.sitemaps)

    def problems(self) -> list[str]:
        """Return up to 20 invalid lines, each as `line 3: …`."""
        problems: list[str] = []
        grouped = False
        for number, line in enumerate(self.text.splitlines(), 1):
            rule = line.partition("#")[0].strip()
            if not rule:
                continue
            name, _ = _field(rule)
            grouped = grouped or name in _USER_AGENT
            if name not in _KNOWN:
                problems.append(f"line {number}: {rule[:80]}")
            elif (name == "allow" or name in _DISALLOW) and not grouped:
                problems.append(f"line {number}: {rule[:80]} comes before any user-agent")
            if len(problems) >= _MAX_PROBLEMS:
                break
        return problems
