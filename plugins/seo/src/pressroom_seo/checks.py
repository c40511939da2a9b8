"""The registry of all checks: of an article, of a page and of a whole site.

Modules that hold checks add them when they are imported, so that a process that scores articles knows of no crawler:
`scoring.checks` has those of articles, `site_checks.report` those of pages and sites.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Final, Literal, Protocol, TypeVar

from pressroom.sdk import InvalidInput

Scope = Literal["article", "page", "site"]
"""What a check looks at: the text of an article, one URL of a website, or all of them together."""


class SeoCheck(Protocol):
    """What all checks have in common."""

    @property
    def id(self) -> str:
        """The name that reports and tools use."""

    @property
    def scope(self) -> Scope:
        """What it looks at."""


C = TypeVar("C", bound=SeoCheck)


class CheckRegistry:
    """Holds checks. A score names those of articles, a report those of pages and sites: in each an id is unique."""

    def __init__(self) -> None:
        self._checks: dict[tuple[bool, str], SeoCheck] = {}

    def add(self, *checks: SeoCheck) -> None:
        """Add checks. Raises `ValueError` where an id is taken."""
        for check in checks:
            key = check.scope == "article", check.id
            if key in self._checks:
                raise ValueError(f"there are two checks {check.id!r}")
            self._checks[key] = check

    def of(self, kind: type[C]) -> Mapping[str, C]:
        """Return the checks of a class by their ids, in the order in which they were added."""
        return {check.id: check for check in self._checks.values() if isinstance(check, kind)}


CHECKS: Final = CheckRegistry()


def unknown_check(field: str, name: str, known: Iterable[str], otherwise: str) -> InvalidInput:
    """Return the error of a request for a check that is not among the known ones.

    It names the one that was probably meant; where no id is similar it says `otherwise`.
    """
    similar = get_close_matches(name, tuple(known), 1)
    return InvalidInput(field, f"there is no check {name!r}; {f'did you mean {similar[0]}?' if similar else otherwise}")
