"""Pages of the dashboard, and the roles of the people who use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

AccountRole = Literal["owner", "editor", "reader"]
"""What a person may do in an account: everything, since it is theirs; write in it; or only read."""

ACCOUNT_ROLES: Final[tuple[AccountRole, ...]] = ("owner", "editor", "reader")
"""All of them; each includes those after it."""


@dataclass(frozen=True, slots=True)
class DashboardPage:
    """Makes a route a page of the dashboard; `title` is its name in the navigation and in the browser's tab.

    Only people who are signed in reach it; `HttpRequest.subject` tells who. What it answers with as `text/html` is the
    part of a page inside the dashboard's frame. A form that it posts has to hold the hidden field `csrf` with
    `HttpRequest.csrf_token`, or `HttpRequest.csrf_token_for` where it is posted to another page: the host refuses one
    without before the handler is asked, and one that was made for another path. A route whose path has `<name>`
    segments, or that takes no GET, does not appear in the navigation.

    `tools` says which of the page's actions are those of MCP tools: the host refuses them to people whose plan has not
    the tool, before the handler is asked. Its keys are values of the form's field `do`; the empty one stands for every
    form whose `do` is not named: `{"export": "export_content"}`.

    `group` is the heading under which the navigation lists the page, such as `Content`. Pages of all plugins with the
    same heading are together; those without one are under `More`.

    `redirecting` says that a form of the page may be answered with a redirect to another site, which browsers block
    otherwise.

    `sees` is the least role with which somebody may open the page in an account, and `posts` the one with which they
    may send its forms: `owner` where it is about the account, such as its credentials, `editor` where people work, or
    `reader`. The host refuses everybody else before the handler is asked, and hides the buttons of forms from them.
    """

    title: str
    tools: Mapping[str, str] = field(default_factory=dict)
    group: str = ""
    redirecting: bool = False
    sees: AccountRole = "reader"
    posts: AccountRole = "editor"
