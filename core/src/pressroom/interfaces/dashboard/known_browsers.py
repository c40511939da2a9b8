"""Browsers in which people have signed in before: whoever guesses their passwords elsewhere does not lock them out."""

from __future__ import annotations

from typing import Final

from sanic import HTTPResponse, Request

from pressroom.accounts.sign_in import account_key
from pressroom.columns import new_secret
from pressroom.http.browser_sessions import BrowserSessions
from pressroom.http.encrypted_cookies import CookieCipher

_COOKIE: Final = "known"
_SECONDS: Final = 180 * 86_400
_MAX_ACCOUNTS: Final = 5


class KnownBrowsers:
    """Keeps in a cookie, which only this server can read, which accounts have signed in with a password in a browser.

    The cookie lets nobody in. It stays when a person signs out, and lasts for 180 days after they signed in.
    """

    def __init__(self, browser: BrowserSessions, seal: CookieCipher) -> None:
        self._browser = browser
        self._seal = seal

    def device(self, request: Request, email: str) -> str:
        """Return what names this browser for an account, or nothing where the account has not signed in with it."""
        return self._known(request).get(account_key(email), "")

    def remember(self, request: Request, response: HTTPResponse, email: str) -> None:
        """Set the cookie on the response to somebody who has just proved to own an account."""
        known, key = self._known(request), account_key(email)
        device = known.pop(key, "") or new_secret()
        kept = {**dict(list(known.items())[-(_MAX_ACCOUNTS - 1) :]), key: device}
        self._browser.set_cookie(response, _COOKIE, self._seal.seal(kept, seconds=_SECONDS), max_age=_SECONDS)

    def _known(self, request: Request) -> dict[str, str]:
        return dict(self._seal.open(self._browser.cookie(request, _COOKIE)) or {})
