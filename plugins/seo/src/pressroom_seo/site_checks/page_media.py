"""Checks of links, images, structured data and social tags."""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from pressroom_content.language import primary_subtag

from pressroom_seo.crawler.records import PageRecord
from pressroom_seo.document.model import PageFacts
from pressroom_seo.site_checks.model import Evidence, PageCheck, when
from pressroom_seo.urls import SiteScope, normalise

_GENERIC: Final[Mapping[str, frozenset[str]]] = {
    "": frozenset({"click here", "learn more", "more info", "read more", "this page"}),
    "en": frozenset({"click", "go", "here", "link", "more", "start", "this"}),
    "de": frozenset({"hier", "hier klicken", "link", "mehr", "mehr erfahren", "weiterlesen"}),
    "es": frozenset({"aquí", "clic aquí", "leer más", "más información"}),
    "fr": frozenset({"cliquez ici", "en savoir plus", "ici", "lire la suite"}),
    "it": frozenset({"clicca qui", "leggi tutto", "link"}),
    "nl": frozenset({"hier", "klik hier", "lees meer", "link", "meer"}),
    "pt": frozenset({"aqui", "clique aqui", "leia mais", "link", "saiba mais"}),
}
"""Link texts that do not describe the target, by language; those of the empty one in pages of every language.

A word can be vague in one language only: in German, *Start* is the home page.
"""

_EVERY_GENERIC: Final = frozenset().union(*_GENERIC.values())
_PRIVATE_NAME = re.compile(r"localhost|.*\.(?:internal|local|localhost|test)")
_MAX_ALT_LENGTH = 125
_MAX_LINKS = 300
_OPEN_GRAPH = ("og:title", "og:type", "og:url")


def _own(record: PageRecord, page: PageFacts) -> list[tuple[str, str, bool]]:
    site = SiteScope.at(record.url)
    return [(link.url, link.text, link.nofollow) for link in page.links if site.contains(link.url)]


def _dead_end(record: PageRecord, page: PageFacts) -> Evidence | None:
    return when(not any(url != record.url for url, _, _ in _own(record, page)))


def _insecure_links(record: PageRecord, page: PageFacts) -> Evidence | None:
    links = [url for url, _, _ in _own(record, page) if url.startswith("http:")]
    return when(record.url.startswith("https:") and links, links=links[:5])


def _private_links(record: PageRecord, page: PageFacts) -> Evidence | None:
    # A site on a private network, such as a staging site, may link to itself.
    own_host = urlsplit(record.url).hostname
    hosts = ((link.url, urlsplit(link.url).hostname or "") for link in page.links)
    links = [url for url, host in hosts if host != own_host and _is_private(host)]
    return when(links, links=links[:5])


def _is_private(host: str) -> bool:
    try:
        return not ip_address(host).is_global
    except ValueError:
        return _PRIVATE_NAME.fullmatch(host) is not None


def _generic_text(_record: PageRecord, page: PageFacts) -> Evidence | None:
    language = primary_subtag(page.language)
    generic = _GENERIC[""] | _GENERIC.get(language, frozenset()) if language else _EVERY_GENERIC
    links = [link.url for link in page.links if link.text.casefold().strip(" .…»>→") in generic]
    return when(links, links=links[:5])


def _without_text(_record: PageRecord, page: PageFacts) -> Evidence | None:
    links = [link.url for link in page.links if not link.text and not link.unseen]
    return when(links, links=links[:5])


def _nofollow(record: PageRecord, page: PageFacts) -> Evidence | None:
    links = [url for url, _, nofollow in _own(record, page) if nofollow]
    return when(links, links=links[:5])


def _structured_problems(_record: PageRecord, page: PageFacts) -> Evidence | None:
    problems = [f"{', '.join(item.types) or item.format}: {item.problem}" for item in page.structured if item.problem]
    return when(problems, problems=problems[:5])


def _structured_missing(_record: PageRecord, page: PageFacts) -> Evidence | None:
    items = [{"type": item.types[0], "missing": list(item.missing)} for item in page.structured if item.missing]
    return when(items, items=items[:5])


def _open_graph_incomplete(_record: PageRecord, page: PageFacts) -> Evidence | None:
    missing = [name for name in _OPEN_GRAPH if not page.open_graph.get(name)]
    return when(page.open_graph and missing, missing=missing)


def _other_og_url(record: PageRecord, page: PageFacts) -> Evidence | None:
    raw_url = page.open_graph.get("og:url", "")
    og_url = (normalise(raw_url) or raw_url).rstrip("/")
    canonical = (page.canonicals[0] if page.canonicals else record.url).rstrip("/")
    return when(og_url and og_url != canonical, og_url=og_url, canonical=canonical)


def _open_graph_image(record: PageRecord, page: PageFacts) -> Evidence | None:
    image = page.open_graph.get("og:image", "")
    # Accept http images on http pages: not_https already reports those.
    full = image.startswith(("https://", "https://" if record.url.startswith("https:") else "http://"))
    return when(page.open_graph and not full, image=image)


CHECKS: Final = (
    PageCheck(
        "dead_end",
        "notice",
        "links",
        "The page does not link to any other page of the site.",
        "Link to pages that a reader may want next.",
        _dead_end,
    ),
    PageCheck(
        "too_many_links",
        "notice",
        "links",
        f"The page has more than {_MAX_LINKS} links.",
        "Remove those that few people need, or spread them over several pages.",
        lambda record, page: when(page.links_total > _MAX_LINKS, links=page.links_total),
    ),
    PageCheck(
        "link_insecure",
        "warning",
        "links",
        "The page links to its own site over plain http.",
        "Link to the https URLs.",
        _insecure_links,
    ),
    PageCheck(
        "link_private",
        "warning",
        "links",
        "The page links to a URL that only its author can open.",
        "Link to the public URL.",
        _private_links,
    ),
    PageCheck(
        "link_unreadable",
        "warning",
        "links",
        "The page has links that are not URLs.",
        "Fix the spelling of these links.",
        lambda record, page: when(page.unreadable, links=page.unreadable),
    ),
    PageCheck(
        "link_without_text",
        "notice",
        "links",
        "The page has links without a text.",
        "Describe the link's target, or give its image an alt text.",
        _without_text,
    ),
    PageCheck(
        "link_text_generic",
        "notice",
        "links",
        "The text of some links does not describe their target.",
        "Describe the link's target instead of “click here”.",
        _generic_text,
    ),
    PageCheck(
        "link_nofollow",
        "notice",
        "links",
        "The page links to its own site with nofollow.",
        "Remove nofollow from links to your own pages.",
        _nofollow,
    ),
    PageCheck(
        "link_uncrawlable",
        "notice",
        "links",
        "Some links lead nowhere without JavaScript.",
        "Give every link an href with a URL.",
        lambda record, page: when(page.uncrawlable, links=page.uncrawlable),
    ),
    PageCheck(
        "image_alt_missing",
        "warning",
        "images",
        "Images have no alt text.",
        'Say in alt what the image shows; use alt="" for decoration.',
        lambda record, page: when(
            [image for image in page.images if image.alt is None],
            images=[image.url for image in page.images if image.alt is None][:5],
        ),
    ),
    PageCheck(
        "image_alt_long",
        "notice",
        "images",
        f"The alt text of an image has more than {_MAX_ALT_LENGTH} characters.",
        "Shorten it, and say the rest in the text.",
        lambda record, page: when(
            [image for image in page.images if len(image.alt or "") > _MAX_ALT_LENGTH],
            images=[image.url for image in page.images if len(image.alt or "") > _MAX_ALT_LENGTH][:5],
        ),
    ),
    PageCheck(
        "image_without_size",
        "notice",
        "images",
        "Images have no size; the page jumps while they load.",
        "Give every img its width and height.",
        lambda record, page: when(
            [image for image in page.images if not image.sized],
            images=[image.url for image in page.images if not image.sized][:5],
        ),
    ),
    PageCheck(
        "structured_data_missing",
        "notice",
        "structured_data",
        "The page has no structured data.",
        "Describe it with JSON-LD of schema.org, such as Article, Product or BreadcrumbList.",
        lambda record, page: when(not page.structured),
    ),
    PageCheck(
        "structured_data_invalid",
        "warning",
        "structured_data",
        "The structured data cannot be read.",
        "Write valid JSON with @context https://schema.org and @type.",
        _structured_problems,
    ),
    PageCheck(
        "structured_data_incomplete",
        "warning",
        "structured_data",
        "The structured data lacks properties that search engines require or recommend.",
        "Add the listed properties.",
        _structured_missing,
    ),
    PageCheck(
        "open_graph_missing",
        "notice",
        "social",
        "The page has no properties for sharing (Open Graph).",
        "Add og:title, og:type, og:url and og:image.",
        lambda record, page: when(not page.open_graph),
    ),
    PageCheck(
        "open_graph_incomplete",
        "notice",
        "social",
        "The page lacks some properties for sharing (Open Graph).",
        "Add the listed properties.",
        _open_graph_incomplete,
    ),
    PageCheck(
        "open_graph_image",
        "notice",
        "social",
        "The page has no image for sharing, or its URL is relative.",
        "Add og:image with a full https URL; 1200 by 630 pixels is best.",
        _open_graph_image,
    ),
    PageCheck(
        "open_graph_url",
        "notice",
        "social",
        "The URL for sharing (og:url) is not the canonical one.",
        "Name the canonical URL in og:url.",
        _other_og_url,
    ),
    PageCheck(
        "twitter_card_missing",
        "notice",
        "social",
        "The page does not name a card type (twitter:card).",
        'Add <meta name="twitter:card" content="summary_large_image">.',
        lambda record, page: when(not page.twitter.get("twitter:card")),
    ),
)
