"""CPU time on untrusted input: every regular expression of the server, hostile inputs for it, a growth measure."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any, Final

ALL = frozenset({"search", "match", "fullmatch"})
_SEARCHES = frozenset({"search", "findall", "finditer", "sub", "subn", "split"})
_METHODS = _SEARCHES | {"match", "fullmatch"}
_NOT_IMPORTED = re.compile(r"\.(?:__main__|versions\..*|preload)$")

FLOOR = 0.02
"""Seconds of CPU time below which growth is not reported, because it is noise."""

_TRIES = 3
_CATEGORIES = {ops.CATEGORY_SPACE: " ", ops.CATEGORY_DIGIT: "1", ops.CATEGORY_WORD: "a", ops.CATEGORY_NOT_WORD: "!"}
_NESTED = 4


@dataclass(frozen=True)
class Found:
    """A pattern, its location, and which of `search`, `match` and `fullmatch` it is used with."""

    where: str
    pattern: re.Pattern[Any]
    ways: frozenset[str]


def packages() -> Sequence[str]:
    """Return the import packages of the server and its bundled plugins, without importing them."""
    names = {entry.module.partition(".")[0] for entry in entry_points(group="pressroom.plugins")}
    return sorted({"pressroom", *(name for name in names if name.startswith("pressroom_"))})


ELSEWHERE: Final = "elsewhere"


@cache
def rooms() -> Sequence[str]:
    """Return the direct submodules of `packages`, such as `pressroom.http`, and `ELSEWHERE`, without importing them."""
    names: list[str] = []
    for package in packages():
        spec = find_spec(package)
        assert spec is not None
        modules = pkgutil.iter_modules(spec.submodule_search_locations, f"{package}.")
        names += [module.name for module in modules if not _NOT_IMPORTED.search(module.name)]
    return [*names, ELSEWHERE]


def room_of(name: str) -> str:
    """Return the entry of `rooms` that a dotted name belongs to."""
    room = ".".join(name.split(".")[:2])
    return room if room in rooms() else ELSEWHERE


def modules() -> Iterator[ModuleType]:
    """Import and yield all modules of `packages`. Too slow for test collection."""
    for name in packages():
        package = importlib.import_module(name)
        yield package
        for info in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not _NOT_IMPORTED.search(info.name):
                yield importlib.import_module(info.name)


@cache
def patterns() -> Sequence[Found]:
    """Return every pattern in a module, a class or a container of one, and every literal pattern in a function."""
    origins: dict[re.Pattern[Any], str] = {}
    ways: dict[re.Pattern[Any], set[str]] = defaultdict(set)
    loaded = list(modules())
    for module in loaded:
        for name, value in vars(module).items():
            for pattern in _inside(value):
                origins.setdefault(pattern, f"{module.__name__}.{name}")
    for module in loaded:
        for pattern, method in _used_in(module):
            if method == "compile":
                if pattern not in origins:
                    origins[pattern] = f"{module.__name__} (in a function)"
                continue
            origins.setdefault(pattern, f"{module.__name__} (in a function)")
            ways[pattern].add("search" if method in _SEARCHES else method)
    occurrences = [Found(where, pattern, frozenset(ways[pattern]) or ALL) for pattern, where in origins.items()]
    return sorted(occurrences, key=lambda occurrence: (occurrence.where, str(occurrence.pattern.pattern)))


def _inside(value: object, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < _NESTED:
        inner: Iterable[object] = ()
        if isinstance(value, dict):
            inner = [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple | set | frozenset):
            inner = value
        elif isinstance(value, type) and value.__module__.startswith("pressroom"):
            inner = list(vars(value).values())
        for element in inner:
            yield from _inside(element, depth + 1)


def _used_in(module: ModuleType) -> Iterator[tuple[re.Pattern[Any], str]]:
    """Yield the patterns used by a module's code, each with the method."""
    try:
        source = inspect.getsource(module)
    except OSError:  # an empty file
        return
    names = vars(module)
    if "re." not in source and not any(isinstance(value, re.Pattern) for value in names.values()):
        return
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in _METHODS and isinstance(node.value, ast.Name):
            pattern = names.get(node.value.id)
            if isinstance(pattern, re.Pattern):
                yield pattern, node.attr
        if isinstance(node, ast.Call) and _is_of_re(node.func):
            yield from _literal(node, names)


def _is_of_re(function: ast.expr) -> bool:
    """Return whether a call's function is one such as in `re.search(…)`."""
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == "re"
        and function.attr in _METHODS | {"compile"}
    )


def _literal(call: ast.Call, names: dict[str, Any]) -> Iterator[tuple[re.Pattern[Any], str]]:
    """Yield the pattern of a call such as `re.search("…", text)`, if it can be evaluated statically."""
    method = ast.unparse(call.func).removeprefix("re.")
    flags = [keyword.value for keyword in call.keywords if keyword.arg == "flags"]
    position = {"compile": 1, "sub": 4, "subn": 4, "split": 3}.get(method, 2)
    try:
        text, flag = (
            eval(ast.unparse(node), dict(names))
            for node in (call.args[0], (flags or call.args[position : position + 1] or [ast.Constant(0)])[0])
        )
    except NameError:  # it depends on a function's local variables
        return
    if isinstance(text, re.Pattern):
        yield text, method
    elif isinstance(text, str | bytes):
        yield re.compile(text, flag), method


_ONE_CHARACTER: Final = frozenset({ops.LITERAL, ops.NOT_LITERAL, ops.ANY, ops.IN, ops.CATEGORY})


def repeats_a_group_possessively(pattern: re.Pattern[Any]) -> bool:
    """Return whether a pattern has a possessive quantifier (`*+`, `++`, `?+`, `{…}+`) on more than one character."""
    flags = pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    return _has_possessive_group(_parser.parse(pattern.pattern, flags))


def _has_possessive_group(parsed: Any) -> bool:
    if isinstance(parsed, _parser.SubPattern):
        return any(
            (operation is ops.POSSESSIVE_REPEAT and not _is_one_character(value[2])) or _has_possessive_group(value)
            for operation, value in parsed
        )
    return isinstance(parsed, list | tuple) and any(map(_has_possessive_group, parsed))


def _is_one_character(parsed: Any) -> bool:
    if len(parsed) != 1:
        return False
    operation, value = parsed[0]
    if operation is ops.SUBPATTERN:
        return value[0] is None and _is_one_character(value[-1])
    return operation in _ONE_CHARACTER


def hostile(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str]]:
    """Yield prefixes, each with a text to repeat after it, derived from the pattern's own literals and classes."""
    flags = pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    single, runs = _texts(_parser.parse(pattern.pattern, flags))
    repeated = dict.fromkeys([*single[:12], *runs[:6], " ", "\n", "a", "1"])
    for part in repeated:
        for start in dict.fromkeys(["", *runs[:3]]):
            yield start, part
    pairs = dict.fromkeys(
        [*(a + b for a in runs[:3] for b in repeated), *(a + b for a in single[:7] for b in single[:7])]
    )
    for pair in pairs:
        if pair not in repeated:
            yield "", pair


def _texts(parsed: Any) -> tuple[list[str], list[str]]:
    """Return the characters in a pattern, and its runs of more than one literal."""
    single: dict[str, None] = {}
    runs: dict[str, None] = {}
    run = ""
    for operation, value in [*parsed, (None, None)]:
        if operation is ops.LITERAL:
            single[chr(value)] = None
            run += chr(value)
            continue
        if len(run) > 1:
            runs[run] = None
        run = ""
        for part in _parts(operation, value):
            if isinstance(part, str):
                single[part] = None
            else:
                inner_single, inner_runs = _texts(part)
                single |= dict.fromkeys(inner_single)
                runs |= dict.fromkeys(inner_runs)
    return list(single), list(runs)


def _parts(operation: Any, value: Any) -> Iterable[Any]:
    match operation:
        case ops.NOT_LITERAL:
            return [chr(value)]
        case ops.ANY:
            return ["a"]
        case ops.IN:
            return [member for kind, item in value for member in _members(kind, item)]
        case ops.SUBPATTERN:
            return [value[3]]
        case ops.MAX_REPEAT | ops.MIN_REPEAT | ops.POSSESSIVE_REPEAT:
            return [value[2]]
        case ops.BRANCH:
            return list(value[1])
        case ops.ASSERT | ops.ASSERT_NOT:
            return [value[1]]
        case ops.ATOMIC_GROUP:
            return [value]
    return []


def _members(kind: Any, item: Any) -> Iterable[str]:
    match kind:
        case ops.LITERAL:
            return [chr(item)]
        case ops.RANGE:
            return [chr(item[0])]
        case ops.CATEGORY:
            return [_CATEGORIES.get(item, "!")]
    return []


def cpu(work: Callable[[Any], object], text: Any, tries: int = _TRIES) -> float:
    """Return the minimum CPU time of this process for `work` on a text, in seconds."""
    times = []
    for _ in range(tries):
        started = time.process_time()
        work(text)
        times.append(time.process_time() - started)
    return min(times)


def grows(work: Callable[[Any], object], text: Callable[[int], Any], size: int, *, floor: float = FLOOR) -> str:
    """Describe the growth of `work` if doubling the input more than triples its time, else return an empty string."""
    # Superlinear growth is rare: measure the longer text once, and repeat only if that looks like growth.
    twice = text(2 * size)
    two = cpu(work, twice, tries=1)
    if two <= floor:
        return ""
    one = cpu(work, text(size))
    if two > 3 * one:
        two = cpu(work, twice)
    if two <= max(floor, 3 * one):
        return ""
    four = cpu(work, text(4 * size))  # a second doubling, so that noise must disturb two measurements to matter
    grown = f"{size:,} characters {one:.3f} s, {2 * size:,} {two:.3f} s, {4 * size:,} {four:.3f} s"
    return grown if four > 3 * two else ""
