"""Toolsets: named groups of MCP tools. A client lists the groups that it wants."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Literal

CORE: Final = "core"
"""What a client sees that asks for nothing else: the way from an idea to a live article."""

GENERATORS: Final = "generators"
"""The tools that make files, unless they name other sets."""

ALL: Final = "all"
"""What a client writes to see every tool; no set can have this name."""

HOST_TOOL_NAMES: Final = ("find_tools", "call_tool")
"""The tools of the host itself, by which clients reach what they do not list."""

MAX_NAME_LENGTH: Final = 32

_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,31}", re.ASCII)

Access = Literal["read", "drafts", "publish", "full"]
"""What a connection may do with the tools that it has.

`read`: only tools that change nothing. `drafts`: also tools that write, but none that publishes or destroys.
`publish`: all but the destructive ones. `full`: every tool.
"""


def toolset_problems(names: Iterable[object]) -> list[str]:
    """Return what is wrong with the names of a tool's sets, a sentence each."""
    return [
        f"toolsets: {name!r} must match [a-z][a-z0-9_-]{{0,31}} and not be {ALL!r}"
        for name in names
        if not isinstance(name, str) or name == ALL or not _NAME.fullmatch(name)
    ]
