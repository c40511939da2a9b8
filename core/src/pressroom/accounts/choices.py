"""Conversion between the owner's choices for a connection and the columns of its row."""

from __future__ import annotations

from typing import Any, Final, cast, get_args

from pressroom.accounts.records import AccessChoice
from pressroom.errors import InvalidInput
from pressroom.sdk.declaration import Access, toolset_problems
from pressroom.storage.database.tables import ConnectionRow

MAX_TOOLSETS: Final = 100


def choice_columns(choice: AccessChoice) -> dict[str, Any]:
    """Return the columns for a choice.

    Raises `InvalidInput` for an unknown access level, an invalid toolset name, or more than `MAX_TOOLSETS` toolsets.
    """
    if choice.access not in get_args(Access):
        raise InvalidInput("access", f"must be one of {', '.join(get_args(Access))} (got {str(choice.access)[:32]!r})")
    toolsets = None if choice.toolsets is None else sorted(choice.toolsets)
    if toolsets is not None and (problems := toolset_problems(toolsets)):
        raise InvalidInput("toolsets", problems[0].removeprefix("toolsets: "))
    if toolsets is not None and len(toolsets) > MAX_TOOLSETS:
        raise InvalidInput("toolsets", f"at most {MAX_TOOLSETS} can be chosen (got {len(toolsets)})")
    return {"access": choice.access, "toolsets": toolsets}


def choice_of(row: ConnectionRow) -> AccessChoice:
    """Return the choice stored in a connection's row."""
    return AccessChoice(_access(row), _toolsets(row))


def _access(row: ConnectionRow) -> Access:
    """Return a connection's access level; a level unknown to this version falls back to `read`, the lowest."""
    return cast("Access", row.access) if row.access in get_args(Access) else "read"


def _toolsets(row: ConnectionRow) -> frozenset[str] | None:
    return frozenset(row.toolsets) if row.toolsets is not None else None
