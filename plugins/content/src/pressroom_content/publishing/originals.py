"""Which publications copies may name as their original."""

from __future__ import annotations

from pressroom.sdk import PluginContext

from pressroom_content.contract import ControlNotProven, require_control


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
