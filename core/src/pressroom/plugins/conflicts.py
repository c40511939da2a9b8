"""What plugins cannot settle among themselves: equal names, and plugins that need others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from pressroom.plugins.contributions import claims


def losers(records: Mapping[str, Iterable[Any]], builtin: frozenset[str]) -> dict[str, tuple[str, str]]:
    """Return the plugins that claim what another one claims, each with an error and a hint.

    A built-in plugin keeps its claim. Between two others neither does, since nothing but chance could decide.
    """
    lost = _round(records, builtin, against_builtin=True)
    left = {plugin: found for plugin, found in records.items() if plugin not in lost}
    return lost | _round(left, builtin, against_builtin=False)


def _round(
    records: Mapping[str, Iterable[Any]], builtin: frozenset[str], *, against_builtin: bool
) -> dict[str, tuple[str, str]]:
    claimed: defaultdict[str, list[str]] = defaultdict(list)
    for plugin in sorted(records):
        for record in records[plugin]:
            for claim in claims(record):
                claimed[claim].append(plugin)
    lost: dict[str, tuple[str, str]] = {}
    for claim, plugins in claimed.items():
        rivals = sorted(set(plugins))
        winners = [plugin for plugin in rivals if plugin in builtin]
        if len(plugins) == 1 or (against_builtin and not winners):
            continue
        for plugin in rivals:
            if plugin in winners and len(rivals) > 1:
                continue
            others = [rival for rival in rivals if rival != plugin]
            lost.setdefault(plugin, _reason(claim, plugin, others))
    return lost


def _reason(claim: str, plugin: str, others: list[str]) -> tuple[str, str]:
    if not others:
        return f"it offers {claim} twice", "give each its own name"
    named = " and ".join(others)
    return (
        f"{claim} is offered by {named} too",
        f"set enabled = false in [plugins.{plugin}] or in [plugins.{others[0]}]",
    )


def without_requirements(requires: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, str]]:
    """Return the plugins that need one which is not there, each with an error and a hint.

    `requires` holds the plugins that are left, with the ids that each needs. What falls out takes others along.
    """
    left = dict(requires)
    lost: dict[str, tuple[str, str]] = {}
    while True:
        fallen = {
            plugin: missing
            for plugin, needed in left.items()
            if (missing := [other for other in needed if other not in left])
        }
        if not fallen:
            return lost
        for plugin, missing in fallen.items():
            del left[plugin]
            lost[plugin] = (
                f"it needs {' and '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not active",
                f"install and enable {missing[0]}: add [plugins.{missing[0]}] to the configuration",
            )
