"""Accounts on a host under test, with their tool calls and browsers."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    import httpx

    from pressroom.testing.running import RunningHost

LOOPBACK_TLS: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""A TLS context without trusted authorities, for clients of a host on loopback, which uses plain HTTP.

By default, each httpx client loads all certificate authorities, which takes tens of milliseconds.
"""


class HostAccount:
    """An account on a running host, created on first use. Get one with `RunningHost.account`."""

    def __init__(self, host: RunningHost, email: str, name: str) -> None:
        self._host = host
        self._name = name
        self._key = ""
        self._making = threading.RLock()
        self._id = ""
        self.email = email

    @property
    def id(self) -> str:
        """The id of the account: the `subject` of its calls, pages and jobs."""
        with self._making:
            self._id = self._id or self._host.run(self._find_or_create())
        return self._id

    def api_key(self) -> str:
        """Return an API key of the account, the same each time."""
        with self._making:
            if not self._key:
                _, self._key = self._host.run(self._host.host.accounts.api_keys.create(self.id, "tests"))
        return self._key

    def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """Call a tool as this account. Returns and raises the same as `RunningHost.call_tool`."""
        return self._host.call_tool(name, arguments, account=self)

    def session_cookies(self) -> dict[str, str]:
        """Return the cookies of a new browser that is signed in to the account."""
        token = self._host.run(self._host.host.accounts.sessions.start(self.id, user_agent="a test"))
        return {"pressroom_session": token}

    def browser(self) -> SignedInBrowser:
        """Return a browser that is signed in to the account. Use it as a context manager."""
        return SignedInBrowser(self._host, self.session_cookies())

    async def _find_or_create(self) -> str:
        users = self._host.host.accounts.users
        return (await users.by_email(self.email) or await users.add(self.email, name=self._name)).id


class SignedInBrowser:
    """A simple signed-in browser without JavaScript: it keeps cookies, follows redirects and submits forms.

    `client` is its HTTP client, for anything that these methods do not cover.
    """

    def __init__(self, host: RunningHost, cookies: Mapping[str, str]) -> None:
        import httpx  # noqa: PLC0415 - takes a while to import, and hosts that serve no test do without

        self._origin = host.settings.public_url
        self.client = httpx.Client(base_url=host.url, follow_redirects=True, timeout=30, verify=LOOPBACK_TLS)
        for name, value in cookies.items():
            self.client.cookies.set(name, value, domain="127.0.0.1", path="/")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def get(self, path: str) -> httpx.Response:
        """Open a page."""
        return self.client.get(path)

    def submit(self, page: str, fields: Mapping[str, str] | None = None, *, action: str = "") -> httpx.Response:
        """Open a page, fill in its form, and submit it with its hidden fields, including the CSRF token.

        Args:
            page: the path of the page with the form.
            fields: the user's input, by field name.
            action: the path that the form is posted to; by default, the path of the page itself.

        Raises:
            LookupError: the page has no such form.
        """
        forms = _Forms()
        forms.feed(self.get(page).text)
        for target, hidden in forms.found:
            if (target or page).partition("#")[0] == (action or page):
                data = {**hidden, **(fields or {})}
                return self.client.post(target or page, data=data, headers={"Origin": self._origin})
        raise LookupError(f"{page} has no form that is posted to {action or page}")


class _Forms(HTMLParser):
    """Collects the forms of a page that are posted: their targets and hidden fields."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """See `HTMLParser`."""
        attributes = dict(attrs)
        if tag == "form" and (attributes.get("method") or "").lower() == "post":
            self._inside = True
            self.found.append((attributes.get("action") or "", {}))
        elif tag == "input" and self._inside and attributes.get("type") == "hidden":
            self.found[-1][1][attributes.get("name") or ""] = attributes.get("value") or ""

    def handle_endtag(self, tag: str) -> None:
        """See `HTMLParser`."""
        self._inside = self._inside and tag != "form"
