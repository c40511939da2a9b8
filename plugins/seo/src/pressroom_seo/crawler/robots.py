"""The robots exclusion protocol (RFC 9309), read by Protego."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from protego import Protego

AGENT: Final = "Pressroom"
"""The product token that groups of robots.txt are matched with (RFC 9309, section 2.2.1)."""

MAX_ROBOTS_BYTES: Final = 512_000
"""How many bytes of robots.txt are read (RFC 9309, section 2.5)."""

_KNOWN: Final = frozenset(
    {"user-agent", "allow", "disallow", "sitemap", "crawl-delay", "host", "clean-param", "request-rate", "visit-time"}
)
_MAX_SITEMAPS = 100
_MAX_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class Robots:
    """What a host's robots.txt says.

    `status` is that of the answer, 0 where there was none. `unreachable` is what the RFC calls so: the server failed,
    and everything counts as disallowed.
    """

    status: int
    unreachable: bool = False
    text: str = ""
    truncated: bool = False
    busy: float | None = None
    """Seconds after which it may be asked for again, where the host was busy for longer than the crawler waits."""
    rules: Protego | None = None

    @classmethod
    def read(cls, status: int, content: bytes, *, truncated: bool = False) -> Robots:
        """Return the rules of an answer (RFC 9309, section 2.3.1).

        A status of the 400s means that there are none; one of the 500s, or no answer at all, that nothing is allowed.
        """
        if status == 0 or status >= 500:
            return cls(status, unreachable=True)
        if status >= 300:
            return cls(status)
        text = content[:MAX_ROBOTS_BYTES].decode("utf-8", "replace").removeprefix("\ufeff").replace("\0", "")
        return cls(status, text=text, truncated=truncated or len(content) > MAX_ROBOTS_BYTES, rules=Protego.parse(text))

    def allows(self, url: str, agent: str = AGENT) -> bool:
        """Return whether an address may be fetched."""
        if self.unreachable:
            return False
        return self.rules is None or bool(self.rules.can_fetch(url, agent))

    @property
    def crawl_delay(self) -> float:
        """Seconds between requests that the host asks for; 0 where it asks for nothing."""
        delay = self.rules.crawl_delay(AGENT) if self.rules is not None else None
        return float(delay or 0.0)

    @property
    def sitemaps(self) -> list[str]:
        """The addresses of sitemaps, as they are written."""
        return [] if self.rules is None else list(dict.fromkeys(self.rules.sitemaps))[:_MAX_SITEMAPS]

    def problems(self) -> list[str]:
        """Return the lines that no crawler understands, each as `line 3: …`."""
        found: list[str] = []
        grouped = False
        for number, line in enumerate(self.text.splitlines(), 1):
            rule = line.partition("#")[0].strip()
            name = rule.partition(":")[0].strip().lower()
            grouped = grouped or name == "user-agent"
            if not rule:
                continue
            if ":" not in rule or name not in _KNOWN:
                found.append(f"line {number}: {rule[:80]}")
            elif name in ("allow", "disallow") and not grouped:
                found.append(f"line {number}: {rule[:80]} stands before any user-agent")
            if len(found) >= _MAX_PROBLEMS:
                break
        return found
