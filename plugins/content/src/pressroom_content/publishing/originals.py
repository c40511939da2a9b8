"""Which publications copies may name as their original."""

from __future__ import annotations

from pressroom.sdk import PluginContext
from sqlalchemy import select

from pressroom_content.contract import ControlNotProven, require_control
from pressroom_content.tables import PublicationRow


async def original_of(plugin: PluginContext, user_id: str, canonical_of: str | None) -> tuple[str, str] | None:
    """Return the URL and the website of the publication that a copy names as its original, if there is one."""
    if canonical_of is None:
        return None
    wanted = select(PublicationRow.url, PublicationRow.website_id).where(
        PublicationRow.id == canonical_of, PublicationRow.user_id == user_id
    )
    async with plugin.services.database.reading() as session:
        found = (await session.execute(wanted)).first()
    return (str(found.url), str(found.website_id)) if found is not None and found.url else None


async def check_original(plugin: PluginContext, user_id: str, website_id: str, url: str) -> None:
    """Let a URL be the canonical URL of copies: only one that the original's website was proven to control.

    Otherwise a site could send what search engines credit for the copies to whatever URL it names.

    Raises `NotFound` and `ControlNotProven`.
    """
    control = await require_control(plugin, user_id, website_id, "A publication as the original of copies")
    if not control.covers(url):
        raise ControlNotProven(
            f"the website says that the original is at {url[:200]}, which is not below {control.url}; copies cannot "
            "name it as their original"
        )
