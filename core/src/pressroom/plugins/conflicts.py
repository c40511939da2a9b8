"""Resolve conflicts between plugins: duplicate claims and missing requirements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from pressroom.plugins.discovery import Status
from pressroom.plugins.validating import Reason


def losers(claimed: Mapping[str, list[str]], favoured: Iterable[frozenset[str]], host: str) -> dict[str, Reason]:
    """Return the plugins that lose a conflict over a claim, each with the reason.

    `host` is the ID under which the host claims names. The host keeps its claims first, then the plugins of each group
    in `favoured`, in order. In a conflict between other plugins all of them lose, since any choice would be arbitrary.
    """
    lost: dict[str, Reason] = {}
    for plugin, names in claimed.items():
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            lost[plugin] = f"it offers {twice[0]} twice", "give each its own name"
    # A plugin that has lost is left out of later rounds, so it causes no further conflicts.
    for group in (frozenset({host}), *filter(None, favoured), frozenset[str]()):
        lost |= _round({plugin: names for plugin, names in claimed.items() if plugin not in lost}, group, host)
    return lost


def _round(claimed: Mapping[str, list[str]], favoured: frozenset[str], host: str) -> dict[str, Reason]:
    """Return the plugins that lose to favoured ones. Without favoured plugins, all that share a claim lose."""
    claimants: defaultdict[str, list[str]] = defaultdict(list)
    for plugin in sorted(claimed):
        for claim in claimed[plugin]:
            claimants[claim].append(plugin)
    lost: dict[str, Reason] = {}
    for claim, plugins in sorted(claimants.items()):
        winners = [plugin for plugin in plugins if plugin in favoured]
        if len(plugins) == 1 or len(winners) != (1 if favoured else 0):
            continue
        for plugin in plugins:
            if plugin not in winners:
                lost.setdefault(plugin, _reason(claim, plugin, [other for other in plugins if other != plugin], host))
    return lost


def _reason(claim: str, plugin: str, others: list[str], host: str) -> Reason:
    off = f"set enabled = false in [plugins.{plugin}]"
    if others == [host]:
        return f"{claim} belongs to the host itself", f"{off}, and ask the plugin's authors for another name"
    return f"{claim} is offered by {' and '.join(others)} too", f"{off} or in [plugins.{others[0]}]"


def without_requirements(requires: Mapping[str, tuple[str, ...]], others: Mapping[str, Status]) -> dict[str, Reason]:
    """Return the plugins with a missing requirement, directly or transitively, each with the reason.

    `requires` maps the remaining plugins to the IDs that each requires. `others` is the status of installed plugins
    that are not among them.
    """
    left = dict(requires)
    lost: dict[str, Reason] = {}
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
            is_are = "is" if len(missing) == 1 else "are"
            status: Status | None = "broken" if missing[0] in lost else others.get(missing[0])
            lost[plugin] = f"it needs {' and '.join(missing)}, which {is_are} not active", _remedy(missing[0], status)


def _remedy(plugin: str, status: Status | None) -> str:
    match status:
        case None:
            return f"install the package that offers {plugin}, and add [plugins.{plugin}] to the configuration"
        case "available":
            return f"add [plugins.{plugin}] to the configuration"
        case "disabled":
            return f"set enabled = true in [plugins.{plugin}]"
        case _:
            return f"fix {plugin} first: `pressroom plugins show {plugin}` says what is wrong with it"
