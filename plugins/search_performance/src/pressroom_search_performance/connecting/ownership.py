"""Which properties a website may be connected with."""

from __future__ import annotations

from urllib.parse import urlsplit

from pressroom.sdk import InvalidInput

_DOMAIN = "sc-domain:"


def check_property(site_url: str, website_url: str, *, operators: bool, hint: str = "") -> None:
    """Refuse a property that is not this website's.

    With a credential of their own people may read whatever it reads, as long as the property holds the website. The
    operator's reads the properties of many: there a property must hold nothing but the website. `hint` says how the
    source names properties.

    Raises `InvalidInput`.
    """
    if site_url.startswith(_DOMAIN):
        domain = site_url.removeprefix(_DOMAIN).lower()
        fits = _domain_fits(domain, website_url, operators=operators)
    else:
        parts = urlsplit(site_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or not parts.path.endswith("/"):
            raise InvalidInput("property", f"must be as the source names it. {hint}".rstrip())
        fits = _prefix_fits(site_url, website_url, operators=operators)
    if not fits:
        raise InvalidInput("property", f"must be the property of {website_url}, and of nothing else")


def _domain_fits(domain: str, website_url: str, *, operators: bool) -> bool:
    parts = urlsplit(website_url)
    host = (parts.hostname or "").lower()
    if operators:
        return not parts.path.strip("/") and host.removeprefix("www.") == domain.removeprefix("www.")
    return host == domain or host.endswith(f".{domain}")


def _prefix_fits(site_url: str, website_url: str, *, operators: bool) -> bool:
    known, asked = urlsplit(website_url), urlsplit(site_url)
    if (known.hostname or "").removeprefix("www.") != (asked.hostname or "").removeprefix("www."):
        return False
    if known.port != asked.port:
        return False
    path = f"{known.path.rstrip('/')}/"
    return asked.path.startswith(path) or (not operators and path.startswith(asked.path))
