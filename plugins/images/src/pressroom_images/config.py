"""Operator settings (`[plugins.images.config]`) and access to the plugin from a call."""

from __future__ import annotations

from typing import Annotated

from pressroom.sdk import Call, PluginConfig, PluginContext
from pressroom_content.contract import ArticleRepository, content_services
from pydantic import Field, SecretStr

ProviderName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$")]


class ImagesConfig(PluginConfig):
    """Providers with their keys, and limits for libraries. A provider that needs a key but has none is left out."""

    providers: tuple[ProviderName, ...] = Field(
        ("openverse", "wikimedia", "unsplash", "pexels", "pixabay"),
        description=(
            "Providers to search, in the order in which their results are mixed. Providers of this plugin that are not "
            "listed are off; those of other plugins follow by name."
        ),
    )
    unsplash_key: SecretStr | None = Field(None, description="Access key of an Unsplash application.")
    unsplash_app: str = Field(
        "pressroom", pattern=r"^[a-z0-9_-]{1,50}$", description="Name of that application, for the links in credits."
    )
    pexels_key: SecretStr | None = Field(None, description="API key of Pexels.")
    pixabay_key: SecretStr | None = Field(None, description="API key of Pixabay.")
    openverse_url: str = Field("https://api.openverse.org/v1", description="URL of the Openverse API.")
    wikimedia_url: str = Field(
        "https://commons.wikimedia.org/w/api.php", description="URL of the MediaWiki API to search."
    )
    unsplash_url: str = Field("https://api.unsplash.com", description="URL of the Unsplash API.")
    pexels_url: str = Field("https://api.pexels.com/v1", description="URL of the Pexels API.")
    pixabay_url: str = Field("https://pixabay.com/api/", description="URL of the Pixabay API.")
    max_image_bytes: int = Field(
        10_485_760, ge=100_000, le=52_428_800, description="Maximum size of an image in a library, in bytes."
    )
    max_images: int = Field(2000, ge=1, le=1_000_000, description="Maximum number of images that an account may have.")
    upload_minutes: int = Field(30, ge=5, le=1440, description="Minutes for which a link to upload an image works.")


def plugin_of(call: Call) -> PluginContext[ImagesConfig]:
    """Return the plugin's context. Raises `RuntimeError` in the process executor, where calls have none."""
    if call.plugin is None:
        raise RuntimeError("the tools of this plugin run in the server's own process")
    return call.plugin


def config_of(call: Call) -> ImagesConfig:
    """Return the plugin's settings."""
    return plugin_of(call).config


def articles_of(call: Call) -> ArticleRepository:
    """Return the article repository of the content plugin."""
    return content_services(plugin_of(call)).articles
