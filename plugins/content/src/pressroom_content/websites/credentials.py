"""Whether this host has the keys that sites' credentials in the database are encrypted with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pressroom.sdk import PluginContext, SharedKeys
from sqlalchemy import select

from pressroom_content.tables import WebsiteRow
from pressroom_content.vault import Vault


def credential_keys(plugin: PluginContext) -> Sequence[SharedKeys]:
    """Return what the host compares with other hosts."""

    async def unreadable(session: Any) -> int:
        vault = Vault.of(plugin)
        connected = select(WebsiteRow.credential).where(
            WebsiteRow.credential != "", WebsiteRow.disconnected_at.is_(None)
        )
        return sum(not vault.can_open(sealed) for sealed in await session.scalars(connected))

    return [
        SharedKeys(
            "credential_keys",
            "[plugins.content.config] credential_keys",
            read=lambda: Vault.of(plugin).secrets,
            configured=bool(plugin.config.credential_keys),
            lost="websites whose credentials the old key encrypted have to be connected again",
            unreadable=unreadable,
            rows="credentials of websites",
        )
    ]
