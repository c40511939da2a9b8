"""What the answer of a platform proves: that a website controls its URL."""

from __future__ import annotations

from datetime import datetime

from pressroom_content.contract.control import is_on_this_server, place_of
from pressroom_content.tables import WebsiteRow


def vouched(url: str, site_url: str) -> bool:
    """Return whether the URL that a platform names as its own is the one that was typed, if one was."""
    place = place_of(site_url)
    return bool(place) and (not url or place == place_of(url))


def take_proof(row: WebsiteRow, site_url: str, now: datetime, *, base_url: str, certain: bool) -> None:
    """Keep on a row what a live check says of control. `certain`: the platform was asked and answered."""
    if row.control_place and row.url and row.control_place != place_of(row.url):
        row.control_place, row.control_method, row.control_at = "", "", None
    if vouched(row.url, site_url) and not is_on_this_server(site_url, base_url):
        row.control_place, row.control_method, row.control_at = place_of(site_url), "platform", now
    elif certain and row.control_method == "platform":
        row.control_place, row.control_method, row.control_at = "", "", None
