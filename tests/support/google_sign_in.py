"""Connecting a website through Google sign-in: the browser, and the user's decision at Google."""

from __future__ import annotations

import httpx
from pressroom.testing import RunningHost
from selectolax.lexbor import LexborHTMLParser

from support.people import BrowserWithoutScreen, Page
from support.standin_google import Google

CALLBACK = "/dashboard/search/google/callback"


class SigningIn:
    """A website's owner in a signed-in browser, on the page for connecting the website."""

    def __init__(
        self, host: RunningHost, google: Google, browser: BrowserWithoutScreen, user_id: str, website_id: str
    ) -> None:
        google.accounts.redirect_uris = {f"{host.url}{CALLBACK}"}
        self.google = google
        self.browser = browser
        self.path = f"/dashboard/search/{website_id}"
        browser.enter(host, host.run(host.host.accounts.users.get(user_id)))

    def look(self) -> Page:
        """Open the page."""
        return self.browser.get(self.path)

    def send(self, do: str, /, **typed: str) -> Page:
        """Submit one of the forms in Google's panel."""
        return self.browser.submit(self.look(), self.path, **{"source": "google", "do": do, **typed})

    def leave(self) -> httpx.Response:
        """Click the sign-in button, and return the redirect response without following it."""
        fields = self.look().fields(self.path) | {"source": "google", "do": "sign_in"}
        headers = {"Origin": self.browser.origin}
        return self.browser.client.post(self.path, data=fields, headers=headers, follow_redirects=False)

    def consent(self, error: str = "") -> str:
        """Leave, decide at Google, and return the URL of the redirect back."""
        return self.google.accounts.consent(self.leave().headers["Location"], error)

    def sign_in(self, error: str = "") -> Page:
        """Leave, decide at Google, and return the page after the redirect back."""
        return self.browser.get(self.consent(error))


def panel(page: Page) -> str:
    """Return the text of Google's panel, without collapsed sections."""
    tree = LexborHTMLParser(page.html)
    for folded in tree.css("#source-google details"):
        folded.decompose()
    node = tree.css_first("#source-google")
    return " ".join(node.text(separator=" ").split()) if node is not None else ""
