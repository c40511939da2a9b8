"""What WordPress is to the content plugin."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from pressroom.sdk import Fetcher
from pressroom_content.contract import Capabilities, CredentialField, SiteAddress, SiteConnector, SiteRejected

from pressroom_wordpress.client import discover
from pressroom_wordpress.site import WordPressSite

FIDELITY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "task_lists": "converted: boxes are characters",
        "typography": "converted: quotes, dashes and dots are set as in print",
    }
)
"""What readers on WordPress do not get as it was written. The tests of fidelity write it."""


APP_ID: Final = UUID("0d6f4b0e-6c39-4d0b-9b0a-7f2f4f3c1a55")
"""Names this program to WordPress, which shows people all passwords of one program together."""


def open_site(address: SiteAddress, credential: Mapping[str, str], fetcher: Fetcher) -> WordPressSite:
    """Return a WordPress site; nothing is sent yet."""
    return WordPressSite(address, credential, fetcher)


async def approval(url: str, return_to: str, fetcher: Fetcher) -> str | None:
    """Return the page on which WordPress makes an application password, where the site offers it."""
    found = await discover(url, fetcher)
    if not found.approval_url:
        return None
    query = {"app_name": "Pressroom", "app_id": str(APP_ID), "success_url": return_to, "reject_url": return_to}
    return f"{found.approval_url}{'&' if '?' in found.approval_url else '?'}{urlencode(query)}"


def approved(query: Mapping[str, str]) -> Mapping[str, str]:
    """Return the credential with which WordPress sent somebody back. Raises `SiteRejected` where they said no."""
    user, password = query.get("user_login", ""), query.get("password", "")
    if not user or not password:
        raise SiteRejected("WordPress was not allowed to create a password; try again, or enter one")
    return {"username": user, "application_password": password}


CONNECTOR: Final = SiteConnector(
    platform="wordpress",
    title="WordPress",
    summary="Your self-hosted WordPress site.",
    open=open_site,
    capabilities=Capabilities(
        draft=True,
        schedule=True,
        update=True,
        unpublish=True,
        delete=True,
        tags=True,
        categories=True,
        canonical=True,
        featured_image=True,
        upload=True,
        seo_meta=True,
        import_posts=True,
        authors=True,
        featured_caption=True,
    ),
    fields=(
        CredentialField("username", "User name", "Your WordPress user name.", secret=False),
        CredentialField(
            "application_password",
            "Application password",
            "24 letters and digits, from Users, Profile, Application Passwords in WordPress; not your own password.",
            pattern=r"[A-Za-z0-9 ]{16,60}",
            page="wp-admin/profile.php#application-passwords-section",
        ),
    ),
    approval=approval,
    approved=approved,
    proves_control=True,
    term_kinds=("category", "tag", "author"),
    fidelity=FIDELITY,
)
