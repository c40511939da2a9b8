"""`find_tools` and `call_tool`: access to tools that a client does not list."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import orjson
from pydantic import Field, ValidationError

from pressroom.errors import InvalidInput
from pressroom.sdk import Integer, Params
from pressroom.sdk.declaration import HOST_TOOL_NAMES
from pressroom.validation.echo import counted
from pressroom.validation.nulls import validated_without_nulls

FIND_TOOLS, CALL_TOOL = HOST_TOOL_NAMES

MAX_QUERY_LENGTH: Final = 200

_WORD: Final = re.compile(r"[^\W_]+")
_ENDINGS: Final = ("ing", "ed")
_LONG_PLURALS: Final = ("ies", "ches", "shes", "sses", "xes")
_MIN_STEM_LENGTH: Final = 3
_MIN_PREFIX_LENGTH: Final = 4
_PREFIX_WEIGHT: Final = 0.5
_NAME, _TITLE, _SET, _DESCRIPTION, _ARGUMENT = 6.0, 4.0, 2.0, 1.5, 1.0


class FindParams(Params):
    """What to look for."""

    query: str = Field(
        default="",
        max_length=MAX_QUERY_LENGTH,
        description="Words for the task, such as: broken links. Without it, all toolsets and their tools are named.",
    )
    limit: Integer = Field(default=5, ge=1, le=20, description="How many tools to return.")


class CallParams(Params):
    """Which tool to run, and with what."""

    name: str = Field(description="The tool's name, from find_tools.")
    arguments: dict[str, Any] = Field(default={}, description="Its arguments: an object that fits its inputSchema.")


@dataclass(frozen=True, slots=True)
class FindableTool:
    """A tool that `find_tools` can return. `definition` is its definition in `tools/list`."""

    name: str
    toolsets: tuple[str, ...]
    definition: Mapping[str, Any]
    destructive: bool

    @property
    def described(self) -> dict[str, Any]:
        """The tool's entry in the structured result of `find_tools`."""
        return {
            "name": self.name,
            "description": self.definition["description"],
            "inputSchema": self.definition["inputSchema"],
            "toolsets": self.toolsets,
            "destructive": self.destructive,
        }


class ToolIndex:
    """A search index over the names, titles, toolsets, descriptions and arguments of a plan's tools."""

    def __init__(self, tools: Iterable[FindableTool]) -> None:
        self.tools = {tool.name: tool for tool in tools}

    @cached_property
    def _weights(self) -> Mapping[str, Mapping[str, float]]:
        return {name: _weights(tool) for name, tool in self.tools.items()}

    @cached_property
    def _frequencies(self) -> Mapping[str, int]:
        return Counter(word for words in self._weights.values() for word in words)

    def search(self, query: str, among: Collection[str], limit: int) -> list[FindableTool]:
        """Return at most `limit` tools of `among` that match words of the query, best match first."""
        words = _words(query)
        scores = {name: self._score(words, self._weights[name]) for name in self.tools if name in among}
        names = sorted((name for name, score in scores.items() if score), key=lambda name: (-scores[name], name))
        return [self.tools[name] for name in names[:limit]]

    def _score(self, words: Iterable[str], weights: Mapping[str, float]) -> float:
        score = 0.0
        for word in words:
            weight, matched = weights.get(word, 0.0), word
            if not weight and len(word) >= _MIN_PREFIX_LENGTH:
                weight, matched = max(
                    (
                        (weight * _PREFIX_WEIGHT, term)
                        for term, weight in weights.items()
                        if term.startswith(word) or (len(term) >= _MIN_PREFIX_LENGTH and word.startswith(term))
                    ),
                    default=(0.0, word),
                )
            if weight:
                score += weight * math.log(1 + len(self.tools) / self._frequencies[matched])
        return score


def _weights(tool: FindableTool) -> dict[str, float]:
    arguments = tool.definition["inputSchema"].get("properties", {})
    fields = (
        (" ".join(arguments), _ARGUMENT),
        (tool.definition["description"], _DESCRIPTION),
        (" ".join(tool.toolsets), _SET),
        (tool.definition["title"], _TITLE),
        (tool.name, _NAME),
    )
    return {word: weight for text, weight in fields for word in _words(text)}


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(_stem(word) for word in _WORD.findall(text.replace("_", " ").lower())))


def _stem(word: str) -> str:
    """Return a word without common English endings: `link` and `links`, or `write` and `writing`, have one stem."""
    stem = _singular(word)
    for ending in _ENDINGS:
        if stem.endswith(ending) and len(stem) - len(ending) >= _MIN_STEM_LENGTH:
            stem = stem[: -len(ending)]
            break
    if stem.endswith("e") and len(stem) > _MIN_PREFIX_LENGTH:
        return stem[:-1]
    return f"{stem[:-1]}i" if stem.endswith("y") else stem


def _singular(word: str) -> str:
    """Return a word without the ending of a plural. The `y` of `copy` is an `i` in `copies` and in stems."""
    if word.endswith(_LONG_PLURALS) and len(word) - 2 >= _MIN_STEM_LENGTH:
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss") and len(word) > _MIN_STEM_LENGTH:
        return word[:-1]
    return word


def read_find(arguments: Mapping[str, Any]) -> FindParams:
    """Validate the arguments of `find_tools`. Raises `InvalidInput`."""
    try:
        return FindParams.model_validate(arguments)
    except ValidationError as error:
        return validated_without_nulls(error, FindParams, arguments)


def read_call(arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name and arguments of the tool to run with `call_tool`. Raises `InvalidInput`."""
    try:
        params = CallParams.model_validate(arguments)
    except ValidationError as error:
        params = validated_without_nulls(error, CallParams, arguments)
    if params.name in HOST_TOOL_NAMES:
        raise InvalidInput("name", f"{params.name} is not run through {CALL_TOOL}; call it directly")
    return params.name, params.arguments


def find_result(index: ToolIndex, params: FindParams, allowed: Collection[str], listed: Collection[str]) -> bytes:
    """Return the result of `find_tools`, limited to the tools that the connection can use.

    Without a query, it contains only the names, grouped by toolset.
    """
    if not params.query.strip():
        return _by_set([index.tools[name] for name in sorted(allowed) if name in index.tools])
    matches = index.search(params.query, allowed, params.limit)
    if not matches:
        text = f"No tool fits {params.query!r}. Use other words, or call {FIND_TOOLS} without a query to see all names."
    else:
        parts = [_described(tool, listed=tool.name in listed) for tool in matches]
        text = "\n\n".join([f"{counted(len(matches), 'tool')}, the best match first.", *parts])
    return _result(text, [tool.described for tool in matches])


def _described(tool: FindableTool, *, listed: bool) -> str:
    if listed:
        usage = "listed: call it directly"
    elif tool.destructive:
        usage = f"destructive: {CALL_TOOL} refuses it; the user has to switch on toolset {tool.toolsets[-1]}"
    else:
        usage = f"run it with {CALL_TOOL}"
    schema = orjson.dumps(tool.definition["inputSchema"]).decode()
    return f"{tool.name} ({usage})\n{tool.definition['description']}\nArguments: {schema}"


def _by_set(tools: Sequence[FindableTool]) -> bytes:
    sets: dict[str, list[str]] = {}
    for tool in tools:
        for name in tool.toolsets:
            sets.setdefault(name, []).append(tool.name)
    lines = [f"{name}: {', '.join(names)}" for name, names in sorted(sets.items())]
    text = "\n".join([*lines, f"Call {FIND_TOOLS} with a query for descriptions and arguments."])
    return _result(text, [{"name": tool.name, "toolsets": tool.toolsets} for tool in tools])


def _result(text: str, tools: list[dict[str, Any]]) -> bytes:
    return orjson.dumps({"content": [{"type": "text", "text": text}], "structuredContent": {"tools": tools}})
