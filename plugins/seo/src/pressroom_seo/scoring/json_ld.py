"""Builds JSON-LD from an article."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final
from urllib.parse import unquote

from pressroom.sdk import InvalidInput
from pressroom_content.language import primary_subtag

from pressroom_seo.document import Block, BlockKind
from pressroom_seo.scoring.article import ScoringArticle, World
from pressroom_seo.scoring.context import Context
from pressroom_seo.structured_data.validation import Problem, StructuredDataItem, missing_of, validate_structured_data
from pressroom_seo.urls import split_url

BUILDABLE: Final = ("BlogPosting", "Article", "NewsArticle", "FAQPage", "HowTo", "BreadcrumbList")

_STEP: Final = re.compile(
    r"(?:step|schritt|étape|etape|paso|passo|passaggio|stap)\s*\d{1,2}\s*[:.)–-]?\s*|\d{1,2}[.)]\s+",  # noqa: RUF001
    re.IGNORECASE,
)
_MAX_ITEMS: Final = 100


@dataclass(frozen=True, slots=True)
class JsonLd:
    """JSON-LD of an article.

    `missing` are the required and most important properties that are missing; `warnings` are the messages of all
    validation errors and warnings.
    """

    json_ld: dict[str, Any]
    missing: tuple[str, ...]
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON data."""
        return asdict(self)


def build_structured_data(article: ScoringArticle, type_name: str = "BlogPosting") -> JsonLd:
    """Build the JSON-LD of an article with a type from `BUILDABLE`. Empty properties are omitted.

    Raises:
        InvalidInput: the type is not in `BUILDABLE`.
    """
    if type_name not in BUILDABLE:
        raise InvalidInput("type", f"must be one of {', '.join(BUILDABLE)} (got {type_name!r})")
    context = Context(article, World(), "default", frozenset())
    builder = _BUILDERS.get(type_name, _article)
    document = _without_empty({"@context": "https://schema.org", "@type": type_name, **builder(context)})
    item = validate_structured_data([document]).items[0]
    return JsonLd(document, _missing(item), tuple(problem.message for problem in (*item.errors, *item.warnings)))


def _missing(item: StructuredDataItem) -> tuple[str, ...]:
    required = [problem.path.partition(".")[2] for problem in item.errors if _is_missing(problem)]
    return tuple(dict.fromkeys(name for name in (*required, *missing_of(item)) if name))


def _is_missing(problem: Problem) -> bool:
    return "lacks" in problem.message or "needs at least" in problem.message


def _article(context: Context) -> dict[str, Any]:
    article = context.article
    images = [article.featured_image, *(image.src for image in context.images)]
    return {
        "headline": article.title.strip() or context.title,
        "description": context.description,
        "image": _urls(images)[:10],
        "datePublished": article.published.isoformat() if article.published else "",
        "dateModified": article.modified.isoformat() if article.modified else "",
        "author": [
            {"@type": "Person", "name": author.name.strip(), "url": author.url.strip()}
            for author in article.authors
            if author.name.strip()
        ],
        "publisher": _publisher(article),
        "mainEntityOfPage": {"@type": "WebPage", "@id": article.url} if article.url else "",
        "url": article.url,
        "inLanguage": article.language or context.language,
        "articleSection": article.section,
        "keywords": list(article.tags),
        "wordCount": context.text.words,
    }


def _publisher(article: ScoringArticle) -> dict[str, Any] | str:
    if not article.site_name.strip():
        return ""
    logo = {"@type": "ImageObject", "url": article.site_logo} if article.site_logo else ""
    return {"@type": "Organization", "name": article.site_name.strip(), "logo": logo}


def _faq(context: Context) -> dict[str, Any]:
    blocks = context.document.blocks
    questions = []
    for index, block in enumerate(blocks):
        if block.kind is BlockKind.HEADING and context.is_question(block.text):
            answer = _text_under(blocks, index)
            reply = {"@type": "Answer", "text": answer} if answer else ""
            questions.append({"@type": "Question", "name": block.text, "acceptedAnswer": reply})
    return {"mainEntity": questions[:_MAX_ITEMS], "inLanguage": primary_subtag(context.article.language)}


def _how_to(context: Context) -> dict[str, Any]:
    article = context.article
    return {
        "name": article.title.strip() or context.title,
        "description": context.description,
        "image": _urls([article.featured_image]),
        "step": _steps(context)[:_MAX_ITEMS],
    }


def _steps(context: Context) -> list[dict[str, Any]]:
    """Return the steps: the numbered headings if there are at least two, else the items of the longest list."""
    blocks = context.document.blocks
    numbered = [
        (index, _STEP.match(block.text)) for index, block in enumerate(blocks) if block.kind is BlockKind.HEADING
    ]
    steps = [(index, blocks[index].text[match.end() :] or blocks[index].text) for index, match in numbered if match]
    if len(steps) > 1:
        return [
            {"@type": "HowToStep", "name": name.strip(), "text": _text_under(blocks, index) or name.strip()}
            for index, name in steps
        ]
    return [{"@type": "HowToStep", "text": text} for text in _longest_list(blocks)]


def _longest_list(blocks: tuple[Block, ...]) -> list[str]:
    best: list[str] = []
    current: list[str] = []
    for block in blocks:
        if block.kind is BlockKind.LIST_ITEM:
            current.append(block.text.replace("\n", " "))
        else:
            current = []
        if len(current) > len(best):
            best = current
    return best


def _text_under(blocks: tuple[Block, ...], heading: int) -> str:
    """Return the text under a heading, down to the next heading of any level."""
    lines = []
    for block in blocks[heading + 1 :]:
        if block.kind is BlockKind.HEADING:
            break
        if block.kind is not BlockKind.CODE:
            lines.append(block.text.replace("\n", " "))
    return " ".join(lines)


def _breadcrumbs(context: Context) -> dict[str, Any]:
    article = context.article
    trail = list(article.breadcrumbs) or _trail_of_url(article)
    trail.append((article.title.strip() or context.title, article.url))
    entries = [
        {"@type": "ListItem", "position": number, "name": name, "item": url}
        for number, (name, url) in enumerate(trail, 1)
    ]
    return {"itemListElement": [_without_empty(entry) for entry in entries]}


def _trail_of_url(article: ScoringArticle) -> list[tuple[str, str]]:
    parts = split_url(article.url)
    if parts is None or not parts.hostname:
        return []
    root = f"{parts.scheme}://{parts.netloc}"
    steps = [part for part in parts.path.split("/") if part][:-1]
    trail = [(article.site_name.strip() or parts.hostname, f"{root}/")]
    for number, step in enumerate(steps, 1):
        name = unquote(step, errors="replace").replace("-", " ").replace("_", " ").strip()
        trail.append((name[:1].upper() + name[1:], f"{root}/{'/'.join(steps[:number])}"))
    return trail


def _urls(raw: list[str]) -> list[str]:
    parts = ((url, split_url(url)) for url in dict.fromkeys(raw) if url)
    return [url for url, split in parts if split is not None and split.scheme in {"http", "https"}]


def _without_empty(node: dict[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for name, value in node.items():
        if isinstance(value, dict):
            cleaned: Any = _without_empty(value)
        elif isinstance(value, list):
            cleaned = [_without_empty(element) if isinstance(element, dict) else element for element in value]
        else:
            cleaned = value
        if cleaned not in ("", None, [], {}, 0):
            plain[name] = cleaned
    return plain


_BUILDERS: Final[dict[str, Callable[[Context], dict[str, Any]]]] = {
    "FAQPage": _faq,
    "HowTo": _how_to,
    "BreadcrumbList": _breadcrumbs,
}
