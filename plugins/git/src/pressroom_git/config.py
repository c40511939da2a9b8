"""What operators configure: `[plugins.git.config]`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pressroom.sdk import PluginConfig
from pydantic import Field

RepositoryName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")]
FolderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$")]


class GitConfig(PluginConfig):
    """Which repositories there are, and who commits."""

    repositories: Mapping[RepositoryName, Path] = Field(
        default_factory=dict,
        description=(
            "Repositories on this server's disk, by the names that people choose them by. Every account may publish in "
            "every one of them."
        ),
    )
    folders: Mapping[RepositoryName, Annotated[tuple[FolderName, ...], Field(min_length=1)]] = Field(
        default_factory=dict,
        description=(
            "Folders of listed repositories below which posts may be written, by the names of the repositories. For "
            "others: `content` (Hugo), `_posts` and `_drafts` (Jekyll), `src/content` (Astro). What a "
            "generator runs, such as templates, must not be below them."
        ),
    )
    github_api: str = Field(
        "https://api.github.com",
        pattern=r"^https?://[^\s?#]{1,200}[^\s?#/]$",
        description="URL of GitHub's API, without a slash at its end; that of GitHub Enterprise ends in /api/v3.",
    )
    author: str = Field(
        "Pressroom <pressroom@localhost>",
        pattern=r"^[^<>\x00-\x1f]{1,100} <[^<>\s\x00-\x1f]{1,100}>$",
        description="Who commits, unless people name an author. On GitHub it is the owner of the token.",
    )
