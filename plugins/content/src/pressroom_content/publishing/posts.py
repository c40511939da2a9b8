"""Preparing an article for a website: the rendered body, the post, and the parts that the platform does not support."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from pressroom.sdk import PluginContext

from pressroom_content.builtin_site import cards
from pressroom_content.contract import BUILTIN, Capabilities, Post, RemoteMedia, SiteConnector, TermKind
from pressroom_content.publishing.images import (
    PostImage,
    inline_ids,
    placed,
    read_images,
    with_featured_credit,
)
from pressroom_content.records import Article, Website
from pressroom_content.rendering.from_html import to_markdown
from pressroom_content.rendering.pieces import BodyPiece, pieces_of, without_placeholders
from pressroom_content.rendering.sanitising import COMMENTS, Sanitiser, render
from pressroom_content.websites import settings as site_settings
from pressroom_content.websites.settings import WebsiteSettings

_HARMLESS: Final = frozenset({COMMENTS})
"""What Markdown may retain: site generators use comments such as `<!--more-->`."""


@dataclass(frozen=True, slots=True)
class RenderedBody:
    """A body as sanitised HTML and as Markdown, and descriptions of the parts that sanitising removed.

    The Markdown is free of those parts too: site generators output raw HTML unchanged.
    """

    html: str
    markdown: str
    removed: tuple[str, ...]
    pieces: tuple[BodyPiece, ...] = ()


def rendered_in_pieces(article: Article, sanitiser: Sanitiser) -> RenderedBody:
    """Do the same as `rendered`, and add the pieces. Raises `InvalidInput`."""
    pieces = tuple(pieces_of(article.body, article.body_format, sanitiser))
    return replace(rendered(article, sanitiser), pieces=pieces)


def rendered(article: Article, sanitiser: Sanitiser) -> RenderedBody:
    """Render the body of an article. It can take a second: call it in a worker. Raises `InvalidInput`."""
    body = without_placeholders(article.body)
    result = render(body, article.body_format, sanitiser)
    if article.body_format == "html":
        markdown = result.html
    elif set(result.removed) - _HARMLESS:
        markdown = to_markdown(result.html)
    else:
        markdown = body
    return RenderedBody(result.html, markdown, result.removed)


OVERRIDES: Final = ("slug", "author", "excerpt", "canonical_url", "tags", "categories")
"""Options of a publication that override the article's own field. All others belong to the connector."""


@dataclass(frozen=True, slots=True)
class Manuscript:
    """An article prepared for a website, except for the data that the site returns, such as IDs."""

    post: Post
    images: Mapping[str, PostImage]
    featured_id: str
    unsupported: tuple[str, ...]
    removed: tuple[str, ...]
    warnings: tuple[str, ...]
    figures: bool = True
    pieces: tuple[BodyPiece, ...] = ()

    @property
    def uploads(self) -> Sequence[PostImage]:
        """The images that have to be uploaded."""
        return [image for image in self.images.values() if image.way == "upload"]

    @property
    def without_files(self) -> Manuscript:
        """The manuscript without the bytes of its images, for a worker."""
        return replace(self, images={name: image.without_content for name, image in self.images.items()})

    def completed(self, term_ids: Mapping[TermKind, tuple[str, ...]], uploaded: Mapping[str, RemoteMedia]) -> Post:
        """Return the post with its term IDs and uploaded images. Call it in a worker."""
        html, markdown = placed(self.post.html, self.post.markdown, self.images, uploaded, figures=self.figures)
        featured = self.images.get(self.featured_id)
        target = featured.at(uploaded) if featured else None
        if featured is not None and target is not None:
            html, markdown = with_featured_credit(html, markdown, featured)
        return replace(self.post, html=html, markdown=markdown, term_ids=dict(term_ids), featured=target)

    def placed_pieces(self, uploaded: Mapping[str, RemoteMedia]) -> tuple[Sequence[BodyPiece], frozenset[int]]:
        """Return the body in pieces with the uploaded images, and the indices of the pieces that contain any.

        Call it in a worker.
        """
        pieces: list[BodyPiece] = []
        with_images: set[int] = set()
        for piece in self.pieces:
            if inline_ids(piece.html):
                html, text = placed(piece.html, piece.text, self.images, uploaded, figures=self.figures)
                if not html.strip():
                    continue
                with_images.add(len(pieces))
                pieces.append(replace(piece, html=html.strip(), text=text.strip()))
            else:
                pieces.append(piece)
        featured = self.images.get(self.featured_id)
        if featured is not None and featured.at(uploaded) is not None:
            full = "\n".join(piece.html for piece in pieces)
            html, text = with_featured_credit(full, "", featured)
            if html != full:
                with_images.add(len(pieces))
                pieces.append(BodyPiece(text.strip(), html[len(full.rstrip()) :].strip()))
        return pieces, frozenset(with_images)

    def sent_fields(self) -> dict[str, Any]:
        """Return the fields of the post, to detect later changes."""
        return sent_fields(self.post, self.featured_id)


async def manuscript(
    plugin: PluginContext,
    article: Article,
    website: Website,
    connector: SiteConnector,
    *,
    marker: str,
    options: Mapping[str, Any],
    canonical_url: str = "",
    in_pieces: bool = False,
) -> Manuscript:
    """Prepare an article for a website, with its body also `in_pieces` if requested.

    Raises:
        InvalidInput: its body cannot be rendered.
        SiteUnavailable: an image cannot be read at the moment.
    """
    settings = site_settings.read(website.settings)
    capabilities = capabilities_of(website, connector)
    run = plugin.services.workers.run
    renderer = rendered_in_pieces if in_pieces else rendered
    text = await run(renderer, article, connector.sanitiser, owner=article.user_id, what="the article")
    featured_id = article.featured_media_id if capabilities.featured_image else ""
    ids = dict.fromkeys([*filter(None, [featured_id]), *inline_ids(text.html)])
    images, warnings = await read_images(
        plugin, article.user_id, ids, policy=settings.image_policy, can_upload=capabilities.upload
    )
    featured, categories = images.get(featured_id), _categories(article, settings, options)
    post = fields_of(article, settings, capabilities, options, canonical_url)
    post = replace(post, marker=marker, html=text.html, markdown=text.markdown)
    if featured is not None:
        alt, caption = post.featured_alt or featured.file.alt, featured.caption if capabilities.featured_caption else ""
        post = replace(post, featured_alt=alt, featured_caption=caption)
        # Some platforms store the alternative text of a featured image with the file, once for all posts.
        images = {**images, featured_id: replace(featured, file=replace(featured.file, alt=alt))}
    if website.platform == BUILTIN and featured is None and await cards.available(plugin):
        card = await cards.compose(
            title=post.title,
            subtitle=post.excerpt,
            site_name=website.name,
            author=post.author,
            eyebrow=categories[0] if categories else "",
        )
        warnings = [*warnings, *filter(None, [card.warning])]
    return Manuscript(
        post=post,
        images=images,
        featured_id=featured_id,
        unsupported=tuple(_unsupported(article, post, categories, capabilities, featured)),
        removed=() if connector.markdown and text.markdown == without_placeholders(article.body) else text.removed,
        warnings=tuple(warnings),
        figures=connector.sanitiser == "full",
        pieces=text.pieces,
    )


def fields_of(
    article: Article,
    settings: WebsiteSettings,
    capabilities: Capabilities,
    options: Mapping[str, Any],
    canonical_url: str = "",
) -> Post:
    """Return an article as a post of a website, without its body and images."""
    overrides = {name: value for name, value in options.items() if name in OVERRIDES and value}
    return Post(
        marker="",
        title=article.title,
        slug=overrides.get("slug") or article.slug,
        html="",
        markdown="",
        excerpt=overrides.get("excerpt") or article.excerpt,
        meta_title=article.meta_title,
        meta_description=article.meta_description,
        keyphrase=article.keyphrase,
        canonical_url=canonical_url_of(article, options, canonical_url),
        language=article.language or settings.language,
        author=overrides.get("author") or article.author or settings.author,
        tags=tuple(overrides.get("tags") or article.tags) if capabilities.tags else (),
        categories=_categories(article, settings, options) if capabilities.categories else (),
        featured_alt=article.featured_alt,
        options={name: value for name, value in options.items() if name not in OVERRIDES},
    )


def _categories(article: Article, settings: WebsiteSettings, options: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(options.get("categories") or article.categories or filter(None, [settings.category]))


_SENT: Final = (
    "title", "slug", "excerpt", "meta_title", "meta_description", "keyphrase", "canonical_url", "author", "tags",
    "categories",
)  # fmt: skip


def sent_fields(post: Post, featured_id: str) -> dict[str, Any]:
    """Return the fields of a post as JSON, to detect later changes."""
    sent: dict[str, Any] = {name: getattr(post, name) for name in _SENT}
    lists = {name: list(sent[name]) for name in ("tags", "categories")}
    featured = [featured_id, post.featured_alt, post.featured_caption] if featured_id else []
    return {**sent, **lists, "featured": featured}


def equals_sent(name: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Check whether a field is what was sent `before`. A featured image given as an ID alone matches any texts."""
    if not name.startswith("featured"):
        return before.get(name) == now.get(name)
    old, new = before.get("featured"), now.get("featured")
    if old is None or new is None:
        return False
    return bool(old == new or (1 in (len(old), len(new)) and old[:1] == new[:1]))


def canonical_url_of(article: Article, options: Mapping[str, Any], original_url: str) -> str:
    """Return the canonical URL of an article's post: the original's URL, else the option's, else the article's."""
    return original_url or options.get("canonical_url") or article.canonical_url


def lacks_author(post: Post, capabilities: Capabilities, term_ids: Mapping[Any, Sequence[str]]) -> bool:
    """Check whether a post has an author that its site does not know."""
    return bool(post.author) and capabilities.authors and not term_ids.get("author")


def unknown_author(name: str) -> str:
    """Return the warning about an author that a site does not know."""
    return (
        f"the site has no author {name!r}, so the post is by the account that publishes; list_site_taxonomies with the "
        "kind author shows the ones it has"
    )


def capabilities_of(website: Website, connector: SiteConnector) -> Capabilities:
    """Return the capabilities of a website: those its live check found, else those of its platform."""
    if not website.capabilities:
        return connector.capabilities
    defaults = asdict(connector.capabilities)
    reported = {name: bool(website.capabilities.get(name, default)) for name, default in defaults.items()}
    # Sites report these by default, but their platform may lack them.
    limited = {name: reported[name] and defaults[name] for name in ("read_back", "trash")}
    return Capabilities(**reported | limited)


def removals(removed: Sequence[str]) -> list[str]:
    """Return the warnings about the parts of a body that sanitising removed."""
    return [f"removed from the body: {part}" for part in removed]


def hash_of_post(post: Post) -> str:
    """Return a hash of everything that is sent of a post."""
    fields = asdict(replace(post, marker="", term_ids={}, kept=frozenset()))
    return hashlib.sha256(json.dumps(fields, sort_keys=True, default=str).encode()).hexdigest()


def _unsupported(
    article: Article, post: Post, categories: Sequence[str], capabilities: Capabilities, featured: PostImage | None
) -> Sequence[str]:
    """Return the fields of an article that the website does not support."""
    fields = {
        "tags": (bool(article.tags), capabilities.tags),
        "categories": (bool(categories), capabilities.categories),
        "canonical_url": (bool(post.canonical_url), capabilities.canonical),
        "featured image": (bool(article.featured_media_id), capabilities.featured_image),
        "caption of the featured image": (bool(featured and featured.caption), capabilities.featured_caption),
        "meta title and description": (bool(post.meta_title or post.meta_description), capabilities.seo_meta),
    }
    return [name for name, (has, can) in fields.items() if has and not can]
