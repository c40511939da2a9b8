"""Comparing a post on a site with what was sent: platforms drop content silently.

Long posts are compared in a worker process so that they do not block the event loop.
"""

from __future__ import annotations

import hashlib
import html as html_module
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, TypeVar
from urllib.parse import unquote

from pressroom.sdk import PluginContext

from pressroom_content.contract import Post, RemoteMedia, RemotePost, run_in_worker, spelled_out
from pressroom_content.contract.site_errors import storable

_WORD = re.compile(r"\w+")
_MARKDOWN_IMAGE = re.compile(r"!\[(?>(?:[^\[\]]++|(?<!!)\[)*)\]\(")
_TAG = re.compile(r"<[^<>]*+>")
_BLOCK: Final = re.compile(
    r"</?(?:p|h[1-6]|li|[uo]l|blockquote|pre|table|t[rdh]|figure|figcaption|div|section|hr|br)(?=[\s/>])[^<>]*+>|\n[^\S\n]*+\n",
    re.IGNORECASE,
)
_IMAGE: Final = re.compile(r"<img\s[^<>]*+>", re.IGNORECASE)
_SIZE: Final = re.compile(r"(?:-scaled|-\d{1,5}x\d{1,5})?(\.[a-zA-Z]{3,4})$")
"""The suffixes that WordPress adds to the file names of resized images."""

_SOURCE: Final = re.compile(r"\ssrc=[\"']([^\"']++)", re.IGNORECASE)
_REPORTED_FIRST: Final = frozenset(
    {"title", "slug", "excerpt", "tags", "categories", "meta_title", "meta_description", "canonical_url", "keyphrase"}
)
"""The fields that connectors reported before they reported authors and images."""

_IMAGE_TEXTS: Final = frozenset({"featured_alt", "featured_caption"})
_REPORTED_LATER: Final = (frozenset({"featured"}), _IMAGE_TEXTS)
"""Fields of images that some connectors began to report later than authors."""

_PLURALS: Final = ("tags", "categories")
_MAX_PASSAGES: Final = 2000
_MAX_SHOWN: Final = 3
_MAX_EDITS: Final = 6
_MAX_FIELD: Final = 1000
_EXCERPT: Final = 120
_MAX_COPIED: Final = 100_000
_DIGEST: Final = 12
_MAX_TAG: Final = 5000
_MAX_MISSING_SHARE: Final = 0.02
"""The share of words that may differ: platforms curl quotes, add captions and join lines."""

_FIELDS: Final[Mapping[str, str]] = {
    "title": "title",
    "excerpt": "excerpt",
    "meta_title": "meta title",
    "meta_description": "meta description",
    "canonical_url": "canonical URL",
    "author": "author",
    "featured_alt": "alternative text of the featured image",
    "featured_caption": "caption of the featured image",
}
_ELEMENTS: Final[Mapping[str, str]] = {
    "img": "image",
    "iframe": "embedded frame",
    "table": "table",
    "pre": "code block",
}

T = TypeVar("T")
_LONG: Final = 50_000
"""Bodies that are longer than this, in characters, are not compared on the event loop."""


def differences(post: Post, remote: RemotePost) -> list[str]:
    """Return the differences between the post on the site and what was sent, one sentence each."""
    return [*_in_body(post, remote), *_in_fields(post, remote), *_in_lists(post, remote)]


def is_ours(post: Post, remote: RemotePost) -> bool:
    """Check whether the post on the site is the one that was sent, allowing for the changes that platforms make."""
    return not any(_in_body(post, remote)) and not any(
        plain(getattr(post, name)) != plain(remote.fields[name]) for name in ("title",) if name in remote.fields
    )


def has_arrived(baseline: Mapping[str, Any], post: Post, remote: RemotePost) -> bool:
    """Check whether a change of a post's text has reached its site. `baseline` is a `snapshot` from before it was sent.

    `is_ours` does not notice a few missing words.
    """
    known = set(baseline.get("passages", ()))
    sent_passages, site_passages = (_passages(html)[:_MAX_PASSAGES] for html in (post.html, remote.html))
    if not known:
        return True
    new = [passage for passage in sent_passages if _digest(passage) not in known]
    if new:
        text = f" {' '.join(map(plain, site_passages))} "
        return all(f" {words} " in text for passage in new if (words := plain(passage)))
    left_out = known.difference(map(_digest, sent_passages))
    return not left_out or not left_out.issubset(map(_digest, site_passages))


def fingerprint(remote: RemotePost) -> bytes:
    """Return a hash of the editable content of a post, to detect edits."""
    return _hash_of(remote, sorted(remote.fields))


def is_unedited(remote: RemotePost, before: bytes) -> bool:
    """Check whether a post still matches its fingerprint, even one from a connector that reported fewer fields."""
    reported = frozenset(remote.fields)
    earlier = (reported, *(reported - names for names in _REPORTED_LATER), reported & _REPORTED_FIRST)
    return any(before == _hash_of(remote, sorted(names)) for names in earlier)


def _hash_of(remote: RemotePost, names: Sequence[str]) -> bytes:
    fields = {name: remote.fields[name] for name in names}
    text = json.dumps([remote.html, fields, remote.featured], sort_keys=True, default=_listed)
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()


def snapshot(remote: RemotePost) -> dict[str, Any]:
    """Return a summary of a post on its site from which `edits` can later determine what was changed there.

    For the body, a hash of each passage is enough: new text is read from the site.
    """
    return {
        "fields": {name: _short(value) for name, value in remote.fields.items()},
        "featured": remote.featured,
        "passages": [_digest(passage) for passage in _passages(remote.html)[:_MAX_PASSAGES]],
    }


def baseline_of(remote: RemotePost) -> tuple[dict[str, Any], bytes]:
    """Return the `snapshot` and the `fingerprint` of a post on its site."""
    return snapshot(remote), fingerprint(remote)


def copy_of(remote: RemotePost) -> dict[str, Any]:
    """Return a backup of a post that is about to be overwritten: not every platform keeps revisions."""
    fields = {name: storable(str(value)[:_MAX_COPIED]) for name, value in remote.fields.items()}
    text = text_of(remote.html)[:_MAX_COPIED] if len(remote.html) > _MAX_COPIED else remote.html
    return {"at": datetime.now(UTC).isoformat(timespec="seconds"), "fields": fields, "body": storable(text)}


def edits(baseline: Mapping[str, Any], remote: RemotePost) -> list[str]:
    """Return the differences from a `snapshot`, one sentence each, with short excerpts of the current content."""
    messages = []
    before = baseline.get("fields", {})
    for name, value in remote.fields.items():
        old, new = before.get(name, ""), _short(value)
        if old != new and name != "featured" and (name in before or name not in _IMAGE_TEXTS):
            is_now, was = ("are now", "they were") if name in _PLURALS else ("is now", "it was")
            messages.append(f"the {_FIELDS.get(name, name)} {is_now} {new[:_EXCERPT]!r} ({was} {old[:_EXCERPT]!r})")
    if bool(baseline.get("featured")) != remote.featured:
        messages.append(f"the featured image was {'added' if remote.featured else 'removed'}")
    elif remote.featured and before.get("featured") and before["featured"] != (image := _image(remote)):
        messages.append(f"the featured image is now {image[:_EXCERPT]!r} (it was {before['featured'][:_EXCERPT]!r})")
    known = Counter(baseline.get("passages", ()))
    now = _passages(remote.html)[:_MAX_PASSAGES]
    new_passages = [passage for passage in now if not known[_digest(passage)]]
    messages += [f"the body now says {passage[:_EXCERPT]!r}" for passage in new_passages[:_MAX_SHOWN]]
    if len(new_passages) > _MAX_SHOWN:
        messages.append(f"{len(new_passages) - _MAX_SHOWN} more passages of the body are new or changed")
    removed = sum((known - Counter(map(_digest, now))).values()) - len(new_passages)
    if removed > 0:
        messages.append(
            f"{removed} {'passage' if removed == 1 else 'passages'} of the body {'is' if removed == 1 else 'are'} gone"
        )
    return messages


def _image(remote: RemotePost) -> str:
    """Return the identifier of a post's featured image as its platform reports it; empty if it does not."""
    return _short(remote.fields.get("featured"))


def is_another(baseline: Mapping[str, Any], remote: RemotePost, marker: str) -> bool:
    """Check whether a post has nothing in common with its `snapshot`: sites reuse IDs, for example after a restore.

    A post that carries our marker is always ours.
    """
    if marker and remote.marker == marker:
        return False
    before = baseline.get("fields", {})
    same_name = any(before.get(name) and before[name] == _short(remote.fields.get(name)) for name in ("title", "slug"))
    known = set(baseline.get("passages", ()))
    return not same_name and bool(known) and known.isdisjoint(map(_digest, _passages(remote.html)[:_MAX_PASSAGES]))


def other_post_note(remote: RemotePost) -> str:
    """Return the message that the site has another post under the ID of ours, without a full stop."""
    title = str(remote.fields.get("title", ""))[:120]
    return (
        f"the post with the id {remote.id} on the site is another one by now ({title!r}), as after a backup was "
        "restored; it was left as it is"
    )


def edits_message(baseline: Mapping[str, Any] | None, remote: RemotePost) -> str:
    """Return the message that a post was edited on its site, with the known edits, without a full stop."""
    messages = edits(baseline, remote)[:_MAX_EDITS] if baseline else []
    details = f": {'; '.join(messages)}" if messages else ""
    return f"the post was edited on the site since it was last written from here{details}"


def _passages(html: str) -> Sequence[str]:
    """Return the texts of a body's paragraphs, headings, items and cells, and the URLs of its images."""
    marked = _IMAGE.sub(_source, "".join(_without_comments(html)))
    texts = (" ".join(html_module.unescape(_TAG.sub(" ", part)).split()) for part in _BLOCK.split(marked))
    return [text for text in texts if text]


def _source(tag: re.Match[str]) -> str:
    match = _SOURCE.search(tag[0][:_MAX_TAG])
    return f" {match[1]} " if match else " "


def _digest(passage: str) -> str:
    return hashlib.sha256(passage.encode(errors="surrogatepass")).hexdigest()[:_DIGEST]


def _short(value: Any) -> str:
    return storable(", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value or ""))[:_MAX_FIELD]


def text_of(html: str) -> str:
    """Return the text of HTML, with spaces between elements.

    Tags are removed with regular expressions: a crafted response could keep a parser busy for minutes.
    """
    return html_module.unescape(_TAG.sub(" ", "".join(_without_comments(html))))


def _without_comments(html: str) -> Iterator[str]:
    at = 0
    while (start := html.find("<!--", at)) >= 0:
        end = html.find("-->", start)
        if end < 0:
            break
        yield html[at:start]
        at = end + 3
    yield html[at:]


def _in_body(post: Post, remote: RemotePost) -> Iterator[str]:
    sent = Counter(_words(text_of(post.html)))
    if not sent and not post.html.strip():
        return
    stored = Counter(_words(text_of(remote.html)))
    if sent and not stored:
        yield "the site kept nothing of the body"
        return
    total, missing = sum(sent.values()), sum((sent - stored).values())
    if missing > max(2, total * _MAX_MISSING_SHARE):
        # In Markdown code, `a < b` is not a tag: the text between such signs may be words of the body.
        missing = sum((sent - Counter(_words(html_module.unescape(remote.html)))).values())
    if missing > max(2, total * _MAX_MISSING_SHARE):
        yield f"the site does not show {missing} of the {total} words of the body"
    for tag, name in _ELEMENTS.items():
        lost = _count(post.html, tag) - _count(remote.html, tag)
        if tag == "img":
            lost -= len(_MARKDOWN_IMAGE.findall(remote.html))
        elif "```" in remote.html or "\n|" in remote.html:
            continue  # stored as Markdown
        if lost > 0:
            yield f"the site dropped {lost} {name}{'s' if lost > 1 else ''} of the body"


def _in_fields(post: Post, remote: RemotePost) -> Iterator[str]:
    for name, label in _FIELDS.items():
        sent = getattr(post, name)
        if not sent or name in post.kept or name not in remote.fields:
            continue
        stored = remote.fields[name]
        if not stored:
            yield f"the site dropped the {label}"
        elif plain(stored) != plain(sent):
            yield f"the site changed the {label} to {str(stored)[:120]!r}"
    slug = remote.fields.get("slug")
    if post.slug and slug and "slug" not in post.kept and unquote(str(slug)) != unquote(post.slug):
        yield f"the site gave the post the slug {str(slug)[:120]!r} instead of {post.slug!r}"
    if post.featured is None or "featured" in post.kept:
        return
    if not remote.featured:
        yield "the site dropped the featured image"
    elif (image := _image(remote)) and not _is_same_image(image, post.featured):
        yield f"the site has {image[:120]!r} as the featured image instead of {post.featured.url[:120]!r}"


def _is_same_image(reported: str, sent: RemoteMedia) -> bool:
    """Check whether a site refers to an image by its ID, its URL, or a URL with another host or size."""
    names = (re.split(r"[?#]", url, maxsplit=1)[0].rpartition("/")[2] for url in (reported, sent.url))
    return reported in (sent.id, sent.url) or len({_SIZE.sub(r"\1", name) for name in names}) == 1


def _in_lists(post: Post, remote: RemotePost) -> Iterator[str]:
    for name in ("tags", "categories"):
        if name not in remote.fields or name in post.kept:
            continue
        stored = {without_spaces(term) for term in remote.fields[name] or ()}
        lost = [term for term in getattr(post, name) if without_spaces(term) not in stored]
        if lost:
            yield f"the site dropped the {name} {', '.join(lost)[:300]}"


def without_spaces(name: str) -> str:
    """Return the name of a term in the form used for comparison: some platforms remove spaces from tags.

    C++ and C# are spelled as on platforms whose tags have only letters: otherwise, both would be the same as C.
    """
    return plain(spelled_out(name)).replace(" ", "")


def _count(html: str, tag: str) -> int:
    return len(re.findall(rf"<{tag}[\s>/]", html, re.IGNORECASE))


def _words(text: str) -> Iterator[str]:
    return (word.lower() for word in _WORD.findall(text))


def plain(value: Any) -> str:
    """Normalise a field for comparison: remove entities, tags, white space, punctuation and case."""
    text = html_module.unescape(_TAG.sub("", str(value)))
    return " ".join(_WORD.findall(text.lower()))


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple | set | frozenset) else str(value)


async def compared(plugin: PluginContext, function: Callable[..., T], *arguments: Any) -> T:
    """Call a comparison function of this module, in a worker process if a post has a long body.

    Raises:
        SiteRefused: it took too long or too much memory.
        SiteUnavailable: the worker queue is full.
    """
    if not any(isinstance(argument, Post | RemotePost) and len(argument.html) > _LONG for argument in arguments):
        return function(*arguments)
    return await run_in_worker(plugin.services.workers, function, *map(_as_compared, arguments))


def _as_compared(argument: Any) -> Any:
    """Return a post without the forms of its body that are not compared."""
    if isinstance(argument, RemotePost):
        return replace(argument, raw="")
    return replace(argument, raw="", markdown="") if isinstance(argument, Post) else argument
