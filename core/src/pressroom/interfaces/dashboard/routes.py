"""The routes of the account pages."""

from __future__ import annotations

from pressroom.accounts.sign_in import SignIn
from pressroom.host.host import Host
from pressroom.http.browser_sessions import BrowserSessions, CookieCipher
from pressroom.http.page_frame import PageFrame
from pressroom.http.responses import Endpoint
from pressroom.interfaces.dashboard.account_page import AccountPage
from pressroom.interfaces.dashboard.activity_page import ActivityPage
from pressroom.interfaces.dashboard.connections import ConnectionPages
from pressroom.interfaces.dashboard.frame import DashboardFrame
from pressroom.interfaces.dashboard.members_pages import JoinPages, MembersPage
from pressroom.interfaces.dashboard.navigation import DASHBOARD
from pressroom.interfaces.dashboard.overview import Overview
from pressroom.interfaces.dashboard.plugin_pages import PluginPages
from pressroom.interfaces.dashboard.sign_in_pages import KnownBrowsers, SignInPages
from pressroom.interfaces.dashboard.users_pages import UsersPages
from pressroom.storage.files.signing import signing_secret


class Dashboard:
    """Handles `/sign-in`, `/dashboard` and related paths."""

    def __init__(self, host: Host, site: PageFrame, browser: BrowserSessions) -> None:
        self._host = host
        self._frame = DashboardFrame(host, site, browser)

    def next_link(self, path: str) -> tuple[str, str] | None:
        """Return the link for a path below the dashboard that was not found, or `None` for other paths."""
        return self._frame.next_link(path) if f"{path}/".startswith(f"{DASHBOARD}/") else None

    def endpoints(self) -> list[Endpoint]:
        """Return the routes to serve."""
        host, frame = self._host, self._frame
        provider = host.identity_provider
        name = provider.name if provider else ""
        sign_in = SignIn(host.accounts.users, host.services.limiter, host.settings)
        secret = signing_secret(host.settings)
        known_browsers = KnownBrowsers(frame.browser, CookieCipher(secret, "browsers in which people signed in"))
        sign_in_pages = SignInPages(frame, sign_in, known_browsers, name)
        endpoints = [
            *sign_in_pages.endpoints(),
            *Overview(frame).endpoints(),
            *ActivityPage(frame).endpoints(),
            *ConnectionPages(frame).endpoints(),
            *AccountPage(frame, sign_in, name).endpoints(),
            *MembersPage(frame).endpoints(),
            *JoinPages(frame, sign_in, sign_in_pages).endpoints(),
            *UsersPages(frame, sign_in_pages, CookieCipher(secret, "links to choose a password")).endpoints(),
            *PluginPages(frame).endpoints(),
        ]
        if provider is not None:
            from pressroom.interfaces.dashboard.provider_pages import ProviderPages  # noqa: PLC0415 - httpx, as in `Host`

            seal = CookieCipher(secret, "sign-in at the identity provider")
            endpoints += ProviderPages(frame, provider, sign_in, sign_in_pages, seal).endpoints()
        return endpoints
