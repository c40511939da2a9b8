"""What the expanders of shorthands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import tinycss2
from pressroom.graphics.css import significant
from tinycss2.ast import Node

Nodes = Sequence[Node]
Expanded = dict[str, Nodes]
Expander = Callable[[Nodes], Expanded | None]


@lru_cache(maxsize=128)
def tokens(text: str) -> tuple[Node, ...]:
    """Return the component values of a text of ours."""
    return tuple(significant(tinycss2.parse_component_value_list(text)))


def slash(node: Node) -> bool:
    """Tell whether a component value is a slash."""
    return bool(node.type == "literal" and node.value == "/")


def split_slash(nodes: Nodes) -> list[list[Node]]:
    """Return the parts of a value between its slashes."""
    parts: list[list[Node]] = [[]]
    for node in nodes:
        if slash(node):
            parts.append([])
        else:
            parts[-1].append(node)
    return parts
