"""Where a site keeps its files, and under which URLs readers find them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, cast
from urllib.parse import quote

from pressroom_content.contract import Post

from pressroom_git.front_matter import Format, Generator, date_of, fields_of
from pressroom_git.names import file_name

_CONTENT: Final[Mapping[Generator, str]] = {"hugo": "content/posts", "jekyll": "_posts", "astro": "src/content/blog"}
_IMAGES: Final[Mapping[Generator, str]] = {"hugo": "static/images", "jekyll": "assets/images", "astro": "public/images"}
_SERVED: Final[Mapping[Generator, str]] = {"hugo": "static/", "jekyll": "", "astro": "public/"}
_PERMALINKS: Final[Mapping[Generator, str]] = {
    "hugo": "/posts/{slug}/",
    "jekyll": "/{categories}/{year}/{month}/{day}/{slug}.html",
    "astro": "/blog/{slug}/",
}
_DATED = re.compile(r"\d{4}-\d{2}-\d{2}-")


@dataclass(frozen=True, slots=True)
class SiteLayout:
    """The folders, front matter and URLs of a site."""

    generator: Generator
    form: Format
    content: str
    images: str
    permalink: str

    @classmethod
    def of(cls, credential: Mapping[str, str]) -> SiteLayout:
        """Return the layout that people chose, with the generator's own for what they left out."""
        generator = cast("Generator", credential.get("generator") or "hugo")
        toml = generator == "hugo" and credential.get("front_matter") == "toml"
        content = credential.get("content_folder") or _CONTENT[generator]
        permalink = credential.get("permalink") or _PERMALINKS[generator]
        if generator == "hugo" and not credential.get("permalink") and content.startswith("content/"):
            permalink = f"/{content.removeprefix('content/').lower()}/{{slug}}/"
        images = credential.get("images_folder") or _IMAGES[generator]
        return cls(generator, "toml" if toml else "yaml", content, images, permalink)

    def path(self, post: Post, now: datetime) -> str:
        """Return the file of a new post."""
        dated = f"{now:%Y-%m-%d}-" if self.generator == "jekyll" else ""
        html = self.generator != "astro" and bool(post.html.strip()) and post.markdown == post.html
        return f"{self.content}/{dated}{self._file_name(post)}.{'html' if html else 'md'}"

    def is_post(self, path: str) -> bool:
        """Tell whether a path is that of a post: no other file can be read or written as one."""
        parts = path.split("/")
        return (
            path.startswith(f"{self.content}/")
            and path.endswith((".md", ".markdown", ".mdx", ".html"))
            and not any(part in ("", ".", "..") or part.lower() == ".git" for part in parts)
            and not any(unicodedata.category(letter) == "Cc" or letter == "\\" for letter in path)
        )

    def candidates(self, paths: Mapping[str, str], post: Post) -> list[str]:
        """Return the files that a post may be in: those with its name, whenever they were made."""
        name = self._file_name(post)
        found = [path for path in paths if self.is_post(path) and self._name(path) == name]
        return sorted(found, reverse=True)

    def url(self, site: str, front: Mapping[str, Any], path: str) -> str:
        """Return where readers find a post."""
        fields = fields_of(front, self.generator)
        at = date_of(front, self.generator) or datetime.now(UTC)
        values = {
            "slug": file_name(fields["slug"], "") or self._name(path),
            "year": f"{at:%Y}",
            "month": f"{at:%m}",
            "day": f"{at:%d}",
            "categories": "/".join(file_name(name, "") for name in fields["categories"]),
        }
        made = re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], ""), self.permalink)
        url = site + quote(re.sub(r"/{2,}", "/", made))
        return url if len(url) <= 2000 else site

    def image_url(self, site: str, path: str) -> str:
        """Return where readers find an image."""
        return f"{site}/{quote(path.removeprefix(_SERVED[self.generator]))}"

    def _file_name(self, post: Post) -> str:
        """Return the name of a post's file without date and extension.

        A file `index.md` makes its folder one page to Hugo: all other posts there would be gone from the site.
        """
        name = file_name(post.slug or post.title, post.marker)
        return "index-post" if name == "index" else name

    def _name(self, path: str) -> str:
        stem = path.rpartition("/")[2].rpartition(".")[0]
        return _DATED.sub("", stem, count=1) if self.generator == "jekyll" else stem
