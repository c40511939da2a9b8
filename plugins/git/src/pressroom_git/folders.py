"""Where accounts may write in the operator's repositories: among the posts, and never among what builds the site.

Everybody with an account may publish in a listed repository, and the operator's machine builds the site. A file among
templates, data or plugins of the generator would be a program that runs there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pressroom_content.contract import SiteRefused

from pressroom_git.front_matter import Generator
from pressroom_git.layout import SiteLayout

_JEKYLL_POSTS: Final = frozenset({"_posts", "_drafts"})
_IMAGES: Final = {
    "hugo": ("static", "assets", "content"),
    "jekyll": ("assets", "images", "img", "media", "uploads"),
    "astro": ("public", "src/assets", "src/content", "src/images"),
}


def check_folders(layout: SiteLayout, name: str, named: Sequence[str]) -> None:
    """Let accounts use the folders of a layout in a listed repository.

    Args:
        layout: what the person chose.
        name: the repository's name in the configuration.
        named: the folders for posts that the operator named for it; if absent, the generator's own count.

    Raises:
        SiteRefused: posts or images would be where accounts may not write.
    """
    if named:
        if not _below(layout.content, named):
            raise _refused("posts", layout.content, name, ", ".join(named))
    elif not _is_content(layout.content, layout.generator):
        allowed = {"hugo": "content", "jekyll": "_posts or _drafts", "astro": "src/content"}[layout.generator]
        raise _refused("posts", layout.content, name, allowed)
    images = (*_IMAGES[layout.generator], *named)
    if not _below(layout.images, images):
        raise _refused("images", layout.images, name, ", ".join(images))


def check_post(path: str) -> None:
    """Refuse to write a post into a file whose text the generator runs. Raises `SiteRefused`."""
    if not path.endswith((".md", ".markdown", ".html")):
        raise SiteRefused(
            f"{path} is a file that the generator runs as a program, so posts are not written into it here",
            hint="Rename it to end in .md, or take it out of the site, then try again.",
        )


def _is_content(folder: str, generator: Generator) -> bool:
    match generator:
        case "hugo":
            return _below(folder, ("content",))
        case "astro":
            return folder.startswith("src/content/")
        case _:
            # Categories are folders around _posts; whatever else begins with a line is Jekyll's own or the theme's.
            parts = folder.split("/")
            special = [part for part in parts if part.startswith("_")]
            return len(special) == 1 and special[0] in _JEKYLL_POSTS


def _below(folder: str, roots: Sequence[str]) -> bool:
    return any(folder == root or folder.startswith(f"{root}/") for root in roots)


def _refused(what: str, folder: str, name: str, allowed: str) -> SiteRefused:
    return SiteRefused(
        f"{what} may not be written to {folder} in the repository {name}; accounts may write below {allowed}",
        hint="Choose another folder, or ask the operator to name this one in the configuration (folders).",
    )
