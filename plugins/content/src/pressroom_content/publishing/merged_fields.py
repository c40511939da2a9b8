"""Merging edits that were made to a post's fields on its website into the article."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from pressroom.sdk import PluginContext

from pressroom_content.contract import RemotePost
from pressroom_content.publishing.known import KnownBody, displayed_fields
from pressroom_content.publishing.posts import capabilities_of, equals_sent, fields_of, sent_fields
from pressroom_content.records import Article, Website
from pressroom_content.websites import settings as site_settings
from pressroom_content.websites.connectors import connector_of

Side = Literal["article", "site", "both"]
"""The version to use. `both` combines the website's, then the article's."""

_FIELDS: Final = (
    "title", "slug", "excerpt", "meta_title", "meta_description", "keyphrase", "canonical_url", "author", "tags",
    "categories", "featured_alt",
)  # fmt: skip
_SITE_ONLY: Final = ("featured", "featured_caption")
"""Fields that an article cannot take over: its featured image and caption come from the account's library."""


@dataclass(frozen=True, slots=True)
class FieldConflict:
    """A field that was changed on both sides."""

    name: str
    before: str
    article: str
    site: str


@dataclass(frozen=True, slots=True)
class FieldMerge:
    """The result of a merge: `changes` to the article, all fields `edited` on the website, and `conflicts`."""

    changes: Mapping[str, Any]
    edited: Mapping[str, Any]
    conflicts: tuple[FieldConflict, ...]


def merged_fields(
    known: KnownBody, remote: RemotePost, local: Mapping[str, Any], choices: Mapping[str, Side]
) -> FieldMerge:
    """Merge the fields that a website shows with `local`, the fields that would be sent from the article."""
    changes: dict[str, Any] = {}
    edited: dict[str, Any] = {}
    conflicts = []
    site_fields = displayed_fields(remote)
    owner_fields = _left_to_owner(known, site_fields, local)
    for name in (*_FIELDS, *_SITE_ONLY):
        if name not in site_fields or name not in known.fields or site_fields[name] == known.fields[name]:
            continue
        edited[name] = site_fields[name]
        if local.get(name) == site_fields[name]:
            continue
        choice = choices.get(name)
        if _changed_in_article(name, known, local) and choice is None:
            article = next(iter(local["featured"]), "") if name == "featured" else local.get(name, "")
            conflicts.append(FieldConflict(name, *map(_text, (known.fields[name], article, site_fields[name]))))
        elif choice != "article" and name not in owner_fields:
            changes[name] = tuple(site_fields[name]) if isinstance(site_fields[name], list) else site_fields[name]
    return FieldMerge(changes, edited, tuple(conflicts))


def _left_to_owner(known: KnownBody, site_fields: Mapping[str, Any], local: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the fields whose edits the article does not take over."""
    owner_fields = set(_SITE_ONLY)
    has_another = known.fields.get("featured", site_fields["featured"]) != site_fields["featured"]
    if has_another or "featured" in known.kept or not local["featured"]:
        owner_fields.add("featured_alt")
    if not local["author"]:  # no author was sent, so the post shows the publishing account
        owner_fields.add("author")
    return frozenset(owner_fields)


def _changed_in_article(name: str, known: KnownBody, local: Mapping[str, Any]) -> bool:
    if name != "featured_alt":
        return not equals_sent(name, known.sent, local)
    alt_sent = list(known.sent.get("featured") or [])[1:2]
    return bool(local["featured"] and local[name] and alt_sent) and [local[name]] != alt_sent


def settled(
    known: KnownBody, fields: FieldMerge, local: Mapping[str, Any], choices: Mapping[str, Side]
) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the fields that count as sent from here on, and the names of those left to the site's owner.

    Left to the owner are fields that an article cannot hold, and those that would be sent with another value than the
    site has, such as the default category from the website's settings.
    """
    sent, owner_fields = dict(known.sent), set(known.kept)
    for name, site_value in fields.edited.items():
        base = "featured" if name.startswith("featured") else name
        if choices.get(name) == "article":
            sent[base] = None
            owner_fields.discard(name)
        elif local.get(name) != site_value:
            sent[base] = local[base]
            owner_fields.add(name)
        elif base == name:
            sent[name] = local[name]
    return sent, frozenset(owner_fields)


def sent_of(plugin: PluginContext, website: Website, article: Article, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields that would be sent from an article. Of its featured image, only the ID is included."""
    capabilities = capabilities_of(website, connector_of(plugin, website.platform))
    post = fields_of(article, site_settings.read(website.settings), capabilities, options)
    featured = [article.featured_media_id] if article.featured_media_id and capabilities.featured_image else []
    return {**sent_fields(post, ""), "featured": featured, "featured_alt": post.featured_alt}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "an image" if value else "no image"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")
