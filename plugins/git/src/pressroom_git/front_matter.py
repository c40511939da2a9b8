"""Files with front matter: what a post is to Hugo, Jekyll and Astro, and how it is read again."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any, Final, Literal

import tomli_w
import yaml
from pressroom_content.contract import Post

from pressroom_git.names import file_name

Generator = Literal["hugo", "jekyll", "astro"]
Format = Literal["yaml", "toml"]

MARKER: Final = "pressroom"
PUBLISHED: Final = "pressroom_published"
"""Tells that the post was live once: from then on its date stays."""

_MAX_LENGTH: Final = 65_536
_MAX_NAMES: Final = 100
_YAML = re.compile(r"\ufeff?---[ \t]*\r?\n(?P<front>.*?)(?:(?<=\n)|^)---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\ufeff?\+\+\+[ \t]*\r?\n(?P<front>.*?)(?<=\n)\+\+\+[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_SHORTCODE = re.compile(r"\{\{(?P<open>[<%])(?P<inside>(?!/\*)(?:(?!\{\{).)*?)(?P<close>[>%])\}\}", re.DOTALL)
_OPEN = re.compile(r"\{\{(?=[<%](?!/\*))")
_ESCAPED = re.compile(r"\{\{(?P<open>[<%])/\*(?P<inside>(?:(?!\{\{).)*?)\*/(?P<close>[>%])\}\}", re.DOTALL)

_KRAMDOWN = re.compile(r"\{:(?=:|[^{}\n]*\bon\w++\s*+=)", re.IGNORECASE)
"""Extensions of kramdown, which may switch escaping off, and lists of attributes with event handlers."""

_NAMES: Final[Mapping[Generator, Mapping[str, str]]] = {
    "hugo": {"excerpt": "summary", "canonical_url": "canonicalURL", "date": "date"},
    "jekyll": {"excerpt": "excerpt", "canonical_url": "canonical_url", "date": "date"},
    "astro": {"excerpt": "excerpt", "canonical_url": "canonicalURL", "date": "pubDate"},
}


def front_of(post: Post, generator: Generator) -> dict[str, Any]:
    """Return the front matter of a post but for its date and state. A member without a value is `None`."""
    names = _NAMES[generator]
    image = post.featured.url if post.featured else None
    front: dict[str, Any] = {
        "title": post.title,
        "slug": file_name(post.slug, "") or None,  # generators make paths of it
        "description": post.meta_description or post.excerpt or None,
        names["excerpt"]: post.excerpt or None,
        "seo_title": post.meta_title or None,
        names["canonical_url"]: post.canonical_url or None,
        "author": post.author or None,
        "tags": list(post.tags) or None,
        "categories": list(post.categories) or None,
        MARKER: post.marker,
    }
    match generator:
        case "hugo":
            front["images"] = [image] if image else None
        case "jekyll":
            alt = post.featured_alt or post.title
            front |= {"layout": "post", "lang": post.language or None, "render_with_liquid": False}
            front["image"] = {"path": image, "alt": alt} if image else None
        case "astro":  # the blog's usual schema wants a description of every post
            front |= {"description": front["description"] or post.title, "heroImage": image}
    return front


def with_state(front: Mapping[str, Any], generator: Generator, *, live: bool, now: datetime) -> dict[str, Any]:
    """Return front matter in a state. The first time that a post is live, it gets that time as its date."""
    name, made = _NAMES[generator]["date"], dict(front)
    if name not in made or (live and not made.get(PUBLISHED)):
        made[name] = now.replace(microsecond=0)
    if live:
        made[PUBLISHED] = True
    if generator == "jekyll":
        made["published"] = live
    else:
        made["draft"] = not live
    return made


def is_live(front: Mapping[str, Any], generator: Generator) -> bool:
    """Tell whether a generator shows a post."""
    return front.get("published") is not False if generator == "jekyll" else front.get("draft") is not True


def date_of(front: Mapping[str, Any], generator: Generator) -> datetime | None:
    """Return a post's date, with its time zone."""
    found = front.get(_NAMES[generator]["date"])
    if isinstance(found, datetime):
        return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
    return datetime(found.year, found.month, found.day, tzinfo=UTC) if isinstance(found, date) else None


def fields_of(front: Mapping[str, Any], generator: Generator) -> dict[str, Any]:
    """Return the fields by the names of `Post`. Whatever people wrote there, they are texts and lists of texts."""
    names = _NAMES[generator]
    return {
        "title": text(front.get("title")),
        "slug": text(front.get("slug")),
        "excerpt": text(front.get(names["excerpt"])),
        "meta_title": text(front.get("seo_title")),
        "meta_description": text(front.get("description")),
        "canonical_url": text(front.get(names["canonical_url"])),
        "tags": _texts(front.get("tags")),
        "categories": _texts(front.get("categories")),
    }


def has_image(front: Mapping[str, Any]) -> bool:
    """Tell whether a post has an image of its own."""
    return any(front.get(name) for name in ("images", "image", "heroImage"))


def split(content: bytes) -> tuple[dict[str, Any], str, Format]:
    """Return front matter, body and form of a file. What cannot be read as front matter is not front matter."""
    whole = content.decode("utf-8", "replace")
    for pattern, form in ((_YAML, "yaml"), (_TOML, "toml")):
        match = pattern.match(whole)
        if match is not None and len(match["front"]) <= _MAX_LENGTH:
            front = _parsed(match["front"], toml=form == "toml")
            if front is not None:
                return front, whole[match.end() :].lstrip("\r\n"), "toml" if form == "toml" else "yaml"
    return {}, whole, "yaml"


def joined(front: Mapping[str, Any], body: str, form: Format) -> bytes:
    """Return a file. Members that are `None` are left out."""
    kept = {_clean(name): _cleaned(value) for name, value in front.items() if value is not None}
    if form == "toml":
        head = f"+++\n{tomli_w.dumps(kept)}+++\n"
    else:
        dumped = yaml.safe_dump(kept, allow_unicode=True, sort_keys=False, width=1000, default_flow_style=False)
        head = f"---\n{dumped}---\n"
    return f"{head}\n{body}".encode(errors="replace")


def body_of(post: Post, generator: Generator) -> str:
    """Return the body as a file has it: nothing in it is run by Hugo, or gives elements of Jekyll handlers."""
    body = post.markdown.replace("\r\n", "\n").rstrip() + "\n"
    if generator == "jekyll":
        return _KRAMDOWN.sub("{&#58;", body)
    if generator != "hugo":
        return body
    return _OPEN.sub("{&#123;", _SHORTCODE.sub(r"{{\g<open>/*\g<inside>*/\g<close>}}", body))


def body_read(body: str, generator: Generator) -> str:
    """Return the body as it was sent."""
    if generator == "jekyll":
        return body.replace("{&#58;", "{:")
    if generator != "hugo":
        return body
    return _ESCAPED.sub(r"{{\g<open>\g<inside>\g<close>}}", body).replace("{&#123;", "{{")


def text(value: Any) -> str:
    """Return a value of front matter as a text; empty if it is invalid."""
    return str(value) if isinstance(value, str | int | float | date) and not isinstance(value, bool) else ""


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,) if value else ()
    return tuple(filter(None, map(text, value[:_MAX_NAMES]))) if isinstance(value, list) else ()


def _parsed(front: str, *, toml: bool) -> dict[str, Any] | None:
    try:
        read = tomllib.loads(front) if toml else yaml.load(front, Loader=_Loader)  # noqa: S506 - it is a safe one
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return {name: value for name, value in read.items() if isinstance(name, str)} if isinstance(read, dict) else None


class _Loader(yaml.SafeLoader):
    """Reads YAML without aliases, which can stand for more than any memory holds."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Return a node."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("front matter has no aliases here")
        return super().compose_node(parent, index)


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, list):
        return [_cleaned(one) for one in value if one is not None]
    if isinstance(value, dict):
        return {_clean(str(name)): _cleaned(one) for name, one in value.items() if one is not None}
    return value


def _clean(value: str) -> str:
    """Return a text without lone surrogates, which no file can hold."""
    return value.encode("utf-8", "replace").decode()
