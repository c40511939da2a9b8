"""Pages of the dashboard, the roles of their users, and untrusted HTML on them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Final, Literal
from urllib.parse import urlsplit

AccountRole = Literal["owner", "editor", "reader"]
"""The role of a user in an account: `owner` with full access, `editor` with write access, or `reader`."""

ACCOUNT_ROLES: Final[tuple[AccountRole, ...]] = ("owner", "editor", "reader")
"""All roles; each one includes the rights of those after it."""

_LINK: Final = re.compile(r"<a\s[^<>]*+>", re.IGNORECASE)
_BLOCK: Final = re.compile(r"<(?:p|h[1-6]|li|tr|pre|blockquote|hr)\b", re.IGNORECASE)
_LINE: Final = 90
_SHORT: Final = 12
"""A text of fewer lines gets a lower frame, unless it has images."""


@dataclass(frozen=True, slots=True)
class DashboardPage:
    """Turns a route into a page of the dashboard. `title` is its name in the navigation and in the browser tab.

    Only signed-in users can open it; `HttpRequest.subject` is the account. A `text/html` response is shown inside the
    layout of the dashboard. Forms with method POST must contain the hidden field `csrf` with `HttpRequest.csrf_token`,
    or with `HttpRequest.csrf_token_for` if they are posted to another page. The host refuses forms without a token, or
    with one for another path, before it calls the handler. Routes whose path has `<name>` segments, or that do not
    accept GET, do not appear in the navigation.

    `tools` maps actions of the page to the corresponding MCP tools: the host refuses these actions if the user's plan
    does not include the tool, before it calls the handler. Its keys are values of the form field `do`; the empty key
    stands for every form whose `do` is not listed: `{"export": "export_content"}`.

    `group` is the heading under which the navigation lists the page, such as `Content`. Pages of all plugins with the
    same heading are grouped together; those without a heading are under `More`.

    `redirecting` means that the response to a form of the page may be a redirect to another site, which browsers would
    block otherwise.

    `sees` is the minimum role that a user needs to open the page, and `posts` is the one for sending its forms: `owner`
    if the page is about the account, such as its credentials, `editor` for pages on which people work, or `reader`. The
    host refuses everybody else before it calls the handler, and hides the buttons of forms from them.
    """

    title: str
    tools: Mapping[str, str] = field(default_factory=dict)
    group: str = ""
    redirecting: bool = False
    sees: AccountRole = "reader"
    posts: AccountRole = "editor"


def sandboxed_frame(html: str, *, title: str, base_url: str, lang: str = "") -> str:
    """Return HTML for a page that shows untrusted HTML in an isolated frame.

    In the frame, the content looks like an article of the dashboard, light or dark. It cannot run scripts, send forms,
    navigate the page or the frame to another URL, or read the page and its tokens; links open in a new tab. It can show
    images of this server and from `data:` URLs. Sanitise the HTML nevertheless: the frame is the second line of
    defence.

    Args:
        html: the content, as the inside of a `body`.
        title: the accessible name of the frame.
        base_url: the server's public URL, `PluginContext.base_url`.
        lang: the language of the text, if known.
    """
    parts = urlsplit(base_url)
    origin, root = f"{parts.scheme}://{parts.netloc}", escape(parts.path.rstrip("/"))
    # The frame inherits the policy of the page as well. Its own origin is opaque, so that 'self' does not match
    # anything.
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
    # The frame cannot report its height to the page, so estimate it. A block adds half a line for the gap above it.
    lines = len(html) / _LINE + 1.5 * len(_BLOCK.findall(html))
    short = " short" if lines < _SHORT and "<img" not in html else ""
    return (
        f'<div class="foreign{short}"><iframe title="{escape(title)}" '
        f'sandbox="allow-popups allow-popups-to-escape-sandbox" srcdoc="{escape(document)}"></iframe></div>'
    )


def _in_the_frame(link: re.Match[str]) -> str:
    """Keep fragment links in the frame, which otherwise resolve against the URL of the page."""
    return link[0].replace(' href="#', ' target="_self" href="about:srcdoc#', 1)
