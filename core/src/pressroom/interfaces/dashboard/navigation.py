"""The navigation of the dashboard: pages of the host and of plugins, filtered by role."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pressroom.host.host import Host
from pressroom.interfaces.dashboard.roles import allows
from pressroom.sdk import AccountRole, Route

DASHBOARD: Final = "/dashboard"
ACTIVITY: Final = "/dashboard/activity"
CONNECTIONS: Final = "/dashboard/connections"
ACCOUNT: Final = "/dashboard/account"
MEMBERS: Final = "/dashboard/members"
USERS: Final = "/dashboard/users"


@dataclass(frozen=True, slots=True)
class NavigationLink:
    """A navigation entry, visible from the role `sees` upwards."""

    title: str
    path: str
    sees: AccountRole = "owner"


@dataclass(frozen=True, slots=True)
class NavigationGroup:
    """A group of navigation entries; `title` is empty for the first group."""

    title: str
    links: tuple[NavigationLink, ...]


def groups_of(host: Host) -> tuple[NavigationGroup, ...]:
    """Return the navigation of a server, including pages of plugins."""
    return (
        NavigationGroup("", (NavigationLink("Overview", DASHBOARD, "reader"),)),
        *_plugin_groups(host),
        NavigationGroup(
            "Settings",
            (
                NavigationLink("Connections", CONNECTIONS),
                NavigationLink("Activity", ACTIVITY),
                NavigationLink("Members", MEMBERS, "reader"),
                NavigationLink("Account", ACCOUNT),
            ),
        ),
    )


def visible_groups(groups: Sequence[NavigationGroup], role: AccountRole) -> tuple[NavigationGroup, ...]:
    """Return the groups with the entries visible to a role, without empty groups."""
    visible = (
        NavigationGroup(group.title, tuple(link for link in group.links if allows(role, link.sees))) for group in groups
    )
    return tuple(group for group in visible if group.links)


def _plugin_groups(host: Host) -> tuple[NavigationGroup, ...]:
    """Return the pages of plugins, grouped by heading in alphabetical order; pages without a heading come last."""
    by_heading: defaultdict[str, list[NavigationLink]] = defaultdict(list)
    for contribution in host.compiled.plugins.contributions.of(Route):
        route, page = contribution.record, contribution.record.page
        if page is not None and "GET" in route.methods and "<" not in route.path:
            by_heading[page.group].append(NavigationLink(page.title, route.path, page.sees))
    headings = sorted(by_heading.keys() - {""})
    groups = [NavigationGroup(title, tuple(by_heading[title])) for title in headings]
    return (*groups, NavigationGroup("More", tuple(by_heading[""]))) if by_heading[""] else tuple(groups)
