"""Registry of article, page and site checks.

Modules register their checks on import: `scoring.checks` registers article checks, `site_checks.report` page and site
checks. A process that only scores articles never imports the crawler.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Final, Literal, Protocol, TypeVar

from pressroom.sdk import InvalidInput

Scope = Literal["article", "page", "site"]
"""What a check examines: an article's text, one URL of a site, or the whole site."""


class SeoCheck(Protocol):
    """The attributes that all checks share."""

    @property
    def id(self) -> str:
        """The check's name in reports and tools."""

    @property
    def scope(self) -> Scope:
        """What the check examines."""


C = TypeVar("C", bound=SeoCheck)


class CheckRegistry:
    """A registry of checks.

    IDs are unique among article checks, and among page and site checks together: scores list the former, reports the
    latter.
    """

    def __init__(self) -> None:
        self._checks: dict[tuple[bool, str], SeoCheck] = {}

    def add(self, *checks: SeoCheck) -> None:
        """Register checks. Raises `ValueError` if an ID is taken."""
        for check in checks:
            key = check.scope == "article", check.id
            if key in self._checks:
                raise ValueError(f"there are two checks {check.id!r}")
            self._checks[key] = check

    def of(self, kind: type[C]) -> Mapping[str, C]:
        """Return the checks of a class by ID, in registration order."""
        return {check.id: check for check in self._checks.values() if isinstance(check, kind)}


CHECKS: Final = CheckRegistry()


def unknown_check(field: str, name: str, known: Iterable[str], otherwise: str) -> InvalidInput:
    """Return the error for an unknown check.

    The message suggests the most similar known ID, or ends with `otherwise` if none is similar.
    """
    similar = get_close_matches(name, tuple(known), 1)
    return InvalidInput(field, f"there is no check {name!r}; {f'did you mean {similar[0]}?' if similar else otherwise}")
