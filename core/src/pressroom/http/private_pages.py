"""Answers with pages that belong to one person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sanic import HTTPResponse

HTML: Final = "text/html; charset=utf-8"

# No Cross-Origin-Opener-Policy: web clients send people to sign-in and consent in a window of their own, and the page
# that it comes back to needs its opener.
_PRIVATE: Final[Mapping[str, str]] = {
    "Cache-Control": "no-store",
    # The URLs of these pages tell nobody else anything; `no-referrer` would make forms send `Origin: null`.
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}


def private_page(body: bytes, security_policy: str, status: int = 200) -> HTTPResponse:
    """Return a page that no cache keeps and no other site frames.

    `security_policy` is one of the site's: `content_security_policy`, or `redirecting_security_policy` where a form of
    the page may end in a redirect to another site.
    """
    headers = {**_PRIVATE, "Content-Security-Policy": security_policy}
    return HTTPResponse(body, status=status, headers=headers, content_type=HTML)


def see_other(location: str) -> HTTPResponse:
    """Return a redirect that is followed with GET (RFC 9110, section 15.4.4). Nothing checks the location here."""
    return HTTPResponse(status=303, headers={**_PRIVATE, "Location": location})
