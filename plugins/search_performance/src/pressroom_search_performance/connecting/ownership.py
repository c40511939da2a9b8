"""Which properties a website can be connected to, and when the operator's credential can be used for them."""

from __future__ import annotations

from urllib.parse import urlsplit

from pressroom.sdk import InvalidInput, PluginContext
from pressroom_content.contract import Website, control_of, require_control

from pressroom_search_performance.host import content_of

_DOMAIN = "sc-domain:"


async def require_owner(plugin: PluginContext, user_id: str, website_id: str, site_url: str) -> None:
    """Check that the operator's credential may be used for a property on behalf of an account.

    The operator's credential has access to the properties of many users, and a request for one of them proves nothing.
    The website must have proven control of its URL, and the property must still belong to that website.

    Raises:
        NotFound: the account has no such website.
        ControlNotProven: control of the URL is not proven; the message explains how to prove it.
        InvalidInput: the property is not the website's.
    """
    control = await require_control(content_of(plugin), user_id, website_id, "The operator's access to search figures")
    check_property(site_url, control.url, operators=True)


def owns(website: Website, site_url: str) -> bool:
    """Return whether a website is already known to control a property, without any request."""
    control = control_of(website)
    try:
        check_property(site_url, control.url, operators=True)
    except InvalidInput:
        return False
    return control.proven


def claim_name(site_url: str) -> str:
    """Return the canonical spelling of a property's name, under which accounts claim it."""
    if site_url.lower().startswith(_DOMAIN):
        return site_url.lower()
    parts = urlsplit(site_url)
    return f"{parts.scheme.lower()}://{parts.netloc.lower()}{parts.path}"


def check_property(site_url: str, website_url: str, *, operators: bool, hint: str = "") -> None:
    """Check that a property belongs to a website.

    A user's own credential may read any property that contains the website. The operator's credential reads the
    properties of many users, so there the property must not contain anything but the website. `hint` describes how the
    source writes the names of properties.

    Raises `InvalidInput`.
    """
    if site_url.startswith(_DOMAIN):
        domain = site_url.removeprefix(_DOMAIN).lower()
        fits = _domain_fits(domain, website_url, operators=operators)
    else:
        if not _is_prefix(site_url):
            raise InvalidInput("property", f"must be as the source names it. {hint}".rstrip())
        fits = _prefix_fits(site_url, website_url, operators=operators)
    if not fits:
        raise InvalidInput("property", f"must be the property of {website_url}, and of nothing else")


def _is_prefix(site_url: str) -> bool:
    """Return whether a property has the form of a URL prefix."""
    try:
        parts = urlsplit(site_url)
        port = parts.port
    except ValueError:
        return False
    return port != 0 and parts.scheme in ("http", "https") and bool(parts.hostname) and parts.path.endswith("/")


def _domain_fits(domain: str, website_url: str, *, operators: bool) -> bool:
    parts = urlsplit(website_url)
    host = (parts.hostname or "").lower()
    if operators:
        return (
            parts.port is None
            and not parts.path.strip("/")
            and host.removeprefix("www.") == domain.removeprefix("www.")
        )
    return host == domain or host.endswith(f".{domain}")


def _prefix_fits(site_url: str, website_url: str, *, operators: bool) -> bool:
    website, site = urlsplit(website_url), urlsplit(site_url)
    if (website.hostname or "").removeprefix("www.") != (site.hostname or "").removeprefix("www."):
        return False
    if website.port != site.port:
        return False
    if site.query or site.fragment or "@" in site.netloc or "/.." in site.path:
        return False
    path = f"{website.path.rstrip('/')}/"
    return site.path.startswith(path) or (not operators and path.startswith(site.path))
