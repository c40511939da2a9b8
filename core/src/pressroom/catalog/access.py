"""Access levels: what a connection may do, and which of them a tool needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from pressroom.sdk import Generator, McpTool
from pressroom.sdk.toolsets import Access

if TYPE_CHECKING:
    from pressroom.catalog.tool import Tool


@dataclass(frozen=True, slots=True)
class AccessLevel:
    """A level as people choose it.

    `description` says in a sentence what connections of this level do, `adds` what a tool does that needs this level.
    """

    name: Access
    title: str
    description: str
    adds: str


LEVELS: Final = (
    AccessLevel("read", "Read only", "Reads what is in your account, and changes nothing.", "only reads"),
    AccessLevel(
        "drafts",
        "Write drafts",
        "Also writes and edits, but changes nothing on your live websites and deletes nothing.",
        "changes what your account holds",
    ),
    AccessLevel(
        "publish",
        "Write and publish",
        "Also publishes and updates articles on your live websites.",
        "changes what visitors of your websites see",
    ),
    AccessLevel(
        "full",
        "Everything",
        "Also deletes, disconnects websites, and overwrites what cannot be brought back.",
        "can delete or overwrite what cannot be brought back",
    ),
)
"""The levels, each of which allows what those before it allow."""

BY_NAME: Final[Mapping[str, AccessLevel]] = MappingProxyType({level.name: level for level in LEVELS})

_RANKS: Final[Mapping[str, int]] = MappingProxyType({level.name: rank for rank, level in enumerate(LEVELS)})


def needed_access(declaration: Generator | McpTool) -> Access:
    """Return the least level that a connection must have to use a tool.

    A generator makes a file of its parameters and changes nothing of anyone's. Of what a tool declares, what does the
    most harm decides.
    """
    if isinstance(declaration, Generator):
        return "read"
    if declaration.annotations.destructive:
        return "full"
    if declaration.publishes:
        return "publish"
    return "read" if declaration.annotations.read_only else "drafts"


def allows(access: str, tool: Tool) -> bool:
    """Tell whether a connection of this level may use a tool; one of a level that nobody knows may use none."""
    return _RANKS.get(access, -1) >= _RANKS[tool.access]
