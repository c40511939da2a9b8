"""Storing the result of a live check: the finding, the proof of the URL, and errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final

from pressroom.sdk import CallError, InvalidInput
from sqlalchemy import case, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.contract import ConnectionReport, SiteRejected
from pressroom_content.contract.control import is_on_this_server, url_key
from pressroom_content.tables import WebsiteRow
from pressroom_content.websites import settings as site_settings

_MAX_ERROR_LENGTH: Final = 1000
_INHERITED: Final = ("timezone", "language")
"""Settings that are taken from the site itself until its owner chooses others."""


def confirms_url(url: str, site_url: str) -> bool:
    """Return whether the URL that a platform reports equals the one that was entered, if there is one."""
    key = url_key(site_url)
    return bool(key) and (not url or key == url_key(url))


def store_proof(row: WebsiteRow, site_url: str, now: datetime, *, base_url: str, certain: bool) -> None:
    """Store on a row what a live check proves about control. `certain`: the platform was queried and responded."""
    if row.control_place and row.url and row.control_place != url_key(row.url):
        row.control_place, row.control_method, row.control_at = "", "", None
    if confirms_url(row.url, site_url) and not is_on_this_server(site_url, base_url):
        row.control_place, row.control_method, row.control_at = url_key(site_url), "platform", now
    elif certain and row.control_method == "platform":
        row.control_place, row.control_method, row.control_at = "", "", None


def store_finding(row: WebsiteRow, finding: ConnectionReport | None, now: datetime, base_url: str) -> None:
    """Store the finding of a live check on a row. `None` changes nothing."""
    if finding is None:
        return
    row.checks = [asdict(check) for check in finding.checks]
    row.capabilities = asdict(finding.capabilities)
    missing = [name for name in _INHERITED if name not in (row.settings or {})]
    row.settings = {**(row.settings or {}), **settings_from_site(finding, missing)}
    row.checked_at = row.updated_at = now
    error = next((check.message for check in finding.checks if check.status == "error"), "")
    if error:
        row.last_error, row.last_error_at = error[:_MAX_ERROR_LENGTH], now
    if row.status != "paused":
        row.status = "error" if error else "active"
    rejected = any(check.id == "credential" and check.status == "error" for check in finding.checks)
    store_proof(row, finding.site_url, now, base_url=base_url, certain=finding.ok or rejected)


def settings_from_site(finding: ConnectionReport | None, names: Sequence[str] = _INHERITED) -> dict[str, Any]:
    """Return the language and time zone that the site reports, without invalid values."""
    accepted: dict[str, Any] = {}
    for name in names:
        value = getattr(finding, name, "")
        try:
            accepted |= site_settings.changed("", {}, {name: value}) if value else {}
        except InvalidInput:
            continue
    return accepted


async def note_error(session: AsyncSession, website_id: str, error: CallError) -> None:
    """Store an error of a site. A rejected credential sets the status of an active website to `error`."""
    message = error.message.replace("\0", "")[:_MAX_ERROR_LENGTH]
    change = update(WebsiteRow).where(WebsiteRow.id == website_id)
    await session.execute(change.values(last_error=message, last_error_at=datetime.now(UTC)))
    if isinstance(error, SiteRejected):
        await session.execute(change.where(WebsiteRow.status == "active").values(status="error"))


async def note_published(session: AsyncSession, website_id: str) -> None:
    """Record that something was published, which clears the status `error`."""
    status = case((WebsiteRow.status == "error", "active"), else_=WebsiteRow.status)
    change = update(WebsiteRow).where(WebsiteRow.id == website_id)
    await session.execute(change.values(last_published_at=datetime.now(UTC), status=status))
