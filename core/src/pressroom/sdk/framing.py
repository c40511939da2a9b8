"""Untrusted HTML on a page of the dashboard."""

from __future__ import annotations

import re
from html import escape
from typing import Final
from urllib.parse import urlsplit

_LINK: Final = re.compile(r"<a\s[^<>]*+>", re.IGNORECASE)
_SHORT: Final = 1500
"""A text of fewer characters gets a frame that is less high, unless it has images."""


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
