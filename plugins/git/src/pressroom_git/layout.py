"""The file paths and URLs of a site, and the folders that accounts may write to.

Every account may publish to a listed repository, and the operator's machine builds the site. A file among the
generator's templates, data or plugins would be code that runs there. Files are therefore only written to the folders of
posts and images.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, cast
from urllib.parse import quote, unquote, urlsplit

from pressroom_content.contract import Post, SiteRefused

from pressroom_git.front_matter import Format, Generator, date_of, fields_of, file_name

_CONTENT: Final[Mapping[Generator, str]] = {"hugo": "content/posts", "jekyll": "_posts", "astro": "src/content/blog"}
_IMAGES: Final[Mapping[Generator, str]] = {"hugo": "static/images", "jekyll": "assets/images", "astro": "public/images"}
_SERVED: Final[Mapping[Generator, str]] = {"hugo": "static/", "jekyll": "", "astro": "public/"}
_PERMALINKS: Final[Mapping[Generator, str]] = {
    "hugo": "/posts/{slug}/",
    "jekyll": "/{categories}/{year}/{month}/{day}/{slug}.html",
    "astro": "/blog/{slug}/",
}
_DATED = re.compile(r"\d{4}-\d{2}-\d{2}-")

_JEKYLL_POSTS: Final = frozenset({"_posts", "_drafts"})
_IMAGE_FOLDERS: Final = {
    "hugo": ("static", "assets", "content"),
    "jekyll": ("assets", "images", "img", "media", "uploads"),
    "astro": ("public", "src/assets", "src/content", "src/images"),
}


@dataclass(frozen=True, slots=True)
class SiteLayout:
    """The folders, front matter and URLs of a site."""

    generator: Generator
    form: Format
    content: str
    images: str
    permalink: str
    nested: bool = False
    """Whether subfolders of the content folder are part of URLs, which is the generators' default."""

    @classmethod
    def of(cls, credential: Mapping[str, str]) -> SiteLayout:
        """Return the configured layout, with the generator's defaults for missing values."""
        generator = cast("Generator", credential.get("generator") or "hugo")
        toml = generator == "hugo" and credential.get("front_matter") == "toml"
        content = credential.get("content_folder") or _CONTENT[generator]
        permalink = credential.get("permalink") or _PERMALINKS[generator]
        if generator == "hugo" and not credential.get("permalink") and content.startswith("content/"):
            permalink = f"/{content.removeprefix('content/').lower()}/{{slug}}/"
        images = credential.get("images_folder") or _IMAGES[generator]
        nested = generator != "jekyll" and not credential.get("permalink")
        return cls(generator, "toml" if toml else "yaml", content, images, permalink, nested)

    def path(self, post: Post, now: datetime) -> str:
        """Return the file path of a new post."""
        date_prefix = f"{now:%Y-%m-%d}-" if self.generator == "jekyll" else ""
        html = self.generator != "astro" and bool(post.html.strip()) and post.markdown == post.html and not post.raw
        return f"{self.content}/{date_prefix}{self._file_name(post)}.{'html' if html else 'md'}"

    def is_post(self, path: str) -> bool:
        """Return whether a path is that of a post. No other file may be read or written as a post."""
        parts = path.split("/")
        return (
            path.startswith(f"{self.content}/")
            and path.endswith((".md", ".markdown", ".mdx", ".html"))
            and not any(part in ("", ".", "..") or part.lower() == ".git" for part in parts)
            and not any(unicodedata.category(letter) == "Cc" or letter == "\\" for letter in path)
        )

    def candidates(self, paths: Mapping[str, str], post: Post) -> list[str]:
        """Return the paths that a post may have: those with its file name, whatever their date."""
        name = self._file_name(post)
        matches = [path for path in paths if self.is_post(path) and self._name(path) == name]
        return sorted(matches, reverse=True)

    def lists(self, path: str) -> bool:
        """Return whether a path is that of a post to list, which excludes section pages (`_index`)."""
        return self.is_post(path) and not path.rpartition("/")[2].startswith("_index.")

    def fields(self, front: Mapping[str, Any], path: str) -> dict[str, Any]:
        """Return the fields of a post by the names of `Post`. The slug defaults to the file name."""
        fields = fields_of(front, self.generator)
        return fields | {"slug": fields["slug"] or self._name(path)}

    def date(self, front: Mapping[str, Any], path: str) -> datetime | None:
        """Return a post's date from its front matter or, in Jekyll, its file name; `None` without one."""
        front_date = date_of(front, self.generator)
        match = _DATED.match(path.rpartition("/")[2]) if front_date is None and self.generator == "jekyll" else None
        if match is None:
            return front_date
        try:
            return datetime.fromisoformat(match[0][:-1]).replace(tzinfo=UTC)
        except ValueError:
            return None

    def url(self, site: str, front: Mapping[str, Any], path: str) -> str:
        """Return the public URL of a post."""
        fields = fields_of(front, self.generator)
        at = self.date(front, path) or datetime.now(UTC)
        slug = file_name(fields["slug"], "") or self._name(path)
        values = {
            "slug": "/".join((*self._folders(path), slug)) if self.nested else slug,
            "year": f"{at:%Y}",
            "month": f"{at:%m}",
            "day": f"{at:%d}",
            "categories": "/".join(file_name(name, "") for name in fields["categories"]),
        }
        front_url = front.get({"hugo": "url", "jekyll": "permalink"}.get(self.generator, ""))
        if isinstance(front_url, str) and front_url.startswith("/") and not set(front_url) & set(":?#"):
            url_path = front_url
        else:
            url_path = re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], ""), self.permalink)
        url = site + quote(re.sub(r"/{2,}", "/", url_path))
        return url if len(url) <= 2000 else site

    def likely(self, url: str, paths: Iterable[str]) -> list[str]:
        """Return the paths whose file name matches a URL. The post is among them unless front matter sets its URL."""
        last = unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2]
        names = {last, last.removesuffix(".html")}
        return [
            path
            for path in paths
            if self.lists(path) and (self._name(path) in names or self._name(path).lower() in names)
        ]

    def image_url(self, site: str, path: str) -> str:
        """Return the public URL of an image."""
        return f"{site}/{quote(path.removeprefix(_SERVED[self.generator]))}"

    def _file_name(self, post: Post) -> str:
        """Return the file name of a post without date and extension.

        `index` is avoided: `index.md` turns its folder into a single page in Hugo, which would remove all other posts
        there from the site.
        """
        name = file_name(post.slug or post.title, post.marker)
        return "index-post" if name == "index" else name

    def _name(self, path: str) -> str:
        parts = path.split("/")
        stem = parts[-1].rpartition(".")[0]
        if stem == "index" and self.generator != "jekyll" and len(parts) > len(self.content.split("/")) + 1:
            return parts[-2]  # a page bundle: a folder with a post and its images
        return _DATED.sub("", stem, count=1) if self.generator == "jekyll" else stem

    def _folders(self, path: str) -> Sequence[str]:
        """Return the folders between the content folder and a post, as they appear in its URL."""
        parts = path.removeprefix(f"{self.content}/").split("/")[:-1]
        bundle = path.rpartition("/")[2].rpartition(".")[0] == "index"
        return [file_name(part, part) for part in (parts[:-1] if bundle else parts)]


def check_folders(layout: SiteLayout, name: str, configured: Sequence[str]) -> None:
    """Check that accounts may use the folders of a layout in a listed repository.

    Args:
        layout: the user's layout.
        name: the repository's name in the configuration.
        configured: the folders for posts that the operator configured for it; if empty, the generator's defaults apply.

    Raises:
        SiteRefused: accounts may not write to the folder of posts or of images.
    """
    if configured:
        if not _below(layout.content, configured):
            raise _refused("posts", layout.content, name, ", ".join(configured))
    elif not _is_content(layout.content, layout.generator):
        allowed = {"hugo": "content", "jekyll": "_posts or _drafts", "astro": "src/content"}[layout.generator]
        raise _refused("posts", layout.content, name, allowed)
    images = (*_IMAGE_FOLDERS[layout.generator], *configured)
    if not _below(layout.images, images):
        raise _refused("images", layout.images, name, ", ".join(images))


def check_post(path: str) -> None:
    """Raise `SiteRefused` if the generator runs the file's content as code."""
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
            # Folders around _posts are categories; others with a leading underscore belong to Jekyll or the theme.
            parts = folder.split("/")
            special = [part for part in parts if part.startswith("_")]
            return len(special) == 1 and special[0] in _JEKYLL_POSTS


def _below(folder: str, roots: Sequence[str]) -> bool:
    return any(folder == root or folder.startswith(f"{root}/") for root in roots)


def _refused(kind: str, folder: str, name: str, allowed: str) -> SiteRefused:
    return SiteRefused(
        f"{kind} may not be written to {folder} in the repository {name}; accounts may write below {allowed}",
        hint="Choose another folder, or ask the operator to name this one in the configuration (folders).",
    )
