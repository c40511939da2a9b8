"""Pages of the dashboard, the roles of the people who use them, and untrusted HTML on them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Final, Literal
from urllib.parse import urlsplit

AccountRole = Literal["owner", "editor", "reader"]
"""What a person may do in an account: everything, since it is theirs; write in it; or only read."""

ACCOUNT_ROLES: Final[tuple[AccountRole, ...]] = ("owner", "editor", "reader")
"""All of them; each includes those after it."""

_LINK: Final = re.compile(r"<a\s[^<>]*+>", re.IGNORECASE)
_SHORT: Final = 1500
"""A text of fewer characters gets a frame that is less high, unless it has images."""


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


def sandboxed_frame(html: str, *, title: str, base_url: str, lang: str = "") -> str:
    """Return HTML that somebody else wrote, in a frame that keeps it away from the page: as HTML for the page.

    In the frame it looks like an article of the dashboard, light or dark. Nothing in it runs, sends forms, leads the
    page or the frame to another URL, or sees the page and its tokens; links open in a tab of their own. It shows images
    of this server and `data:` ones. Sanitise what it gets all the same: the frame is the second line of defence.

    Args:
        html: what is shown, the inside of a `body`.
        title: what the frame is called for people who do not see it.
        base_url: the server's public URL, `PluginContext.base_url`.
        lang: the language of the text, where it is known.
    """
    parts = urlsplit(base_url)
    origin, root = f"{parts.scheme}://{parts.netloc}", escape(parts.path.rstrip("/"))
    # The policy of the page holds in the frame as well. The frame has no origin of its own that 'self' could stand for.
    policy = f"default-src 'none'; img-src 'self' {origin} data:; style-src 'self' {origin}; font-src 'self' {origin}"
    language = f' lang="{escape(lang)}"' if lang else ""
    document = (
        f'<!doctype html><html class="foreign-text"{language}><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        f'<title>{escape(title)}</title><meta name="referrer" content="no-referrer"><base target="_blank">'
        f'<link rel="stylesheet" href="{root}/tools/static/pressroom.css">'
        f'<link rel="stylesheet" href="{root}/tools/static/account.css">'
        f'</head><body class="prose" dir="auto">{_LINK.sub(_in_the_frame, html)}</body></html>'
    )
    short = " short" if len(html) < _SHORT and "<img" not in html else ""
    return (
        f'<div class="foreign{short}"><iframe title="{escape(title)}" '
        f'sandbox="allow-popups allow-popups-to-escape-sandbox" srcdoc="{escape(document)}"></iframe></div>'
    )


def _in_the_frame(link: re.Match[str]) -> str:
    """Let a link to a place in the same text stay in the frame, whose own URL is not what links are relative to."""
    return link[0].replace(' href="#', ' target="_self" href="about:srcdoc#', 1)
