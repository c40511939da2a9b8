"""How another plugin gets at the articles and websites of accounts."""

from __future__ import annotations

from dataclasses import dataclass

from pressroom.sdk import Call, PluginContext

from pressroom_content.contract.articles import ArticleRepository
from pressroom_content.contract.credentials import CredentialVault
from pressroom_content.contract.publications import PublicationRepository
from pressroom_content.contract.reviewing import TextChecker
from pressroom_content.contract.text_twins import TextTwinRepository
from pressroom_content.contract.websites import WebsiteRepository


@dataclass(frozen=True, slots=True)
class ContentServices:
    """What the content plugin does for other plugins. Everything is found by the account that it belongs to."""

    articles: ArticleRepository
    websites: WebsiteRepository
    publications: PublicationRepository
    credentials: CredentialVault
    text_twins: TextTwinRepository
    text_checks: TextChecker


def content_services(source: PluginContext | Call) -> ContentServices:
    """Return the services of the content plugin, for a plugin that names `content` in `requires`.

    They are there once the server starts, such as in a lifespan or a call, and are cheap to make for each call.

    Args:
        source: the context of the asking plugin, or a call of one of its tools.

    Raises:
        KeyError: the plugin does not require `content`, or not all plugins are loaded yet.
        RuntimeError: the tool runs in a worker process, where there is no database.
    """
    from pressroom_content.services import services_of  # noqa: PLC0415 - SQLAlchemy and the parsers load with it

    plugin = source.plugin if isinstance(source, Call) else source
    if plugin is None:
        raise RuntimeError("articles and websites can be read only by tools that run in the server's own process")
    return services_of(plugin.required["content"])
