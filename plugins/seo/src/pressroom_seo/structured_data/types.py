"""The schema.org types with rules, from `types.toml`, and the formats of their values."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache
from importlib.resources import files
from typing import Any, Final

from pressroom_seo.urls import split_url

LISTING_TYPES: Final = frozenset(["Blog", "CollectionPage", "SearchResultsPage"])
"""The types of pages that list articles."""

ARTICLE_TYPES: Final = frozenset(
    [
        "Article",
        "BlogPosting",
        "NewsArticle",
        "TechArticle",
        "ScholarlyArticle",
        "SocialMediaPosting",
        "Report",
        "OpinionNewsArticle",
        "AnalysisNewsArticle",
        "ReviewNewsArticle",
        "BackgroundNewsArticle",
        "ReportageNewsArticle",
        "AdvertiserContentArticle",
        "SatiricalArticle",
        "LiveBlogPosting",
    ]
)
PRODUCT_TYPES: Final = frozenset({"Product", "ProductGroup"})
_PARENTS: Final = {
    **dict.fromkeys(ARTICLE_TYPES, "Article"),
    **dict.fromkeys(PRODUCT_TYPES, "Product"),
    **dict.fromkeys(["MobileApplication", "WebApplication", "VideoGame"], "SoftwareApplication"),
    **dict.fromkeys(
        [
            "Restaurant",
            "Store",
            "Hotel",
            "Dentist",
            "Bakery",
            "CafeOrCoffeeShop",
            "BarOrPub",
            "AutoRepair",
            "MedicalClinic",
            "LegalService",
            "RealEstateAgent",
            "FoodEstablishment",
            "HealthAndBeautyBusiness",
            "ProfessionalService",
        ],
        "LocalBusiness",
    ),
    **dict.fromkeys(
        ["Corporation", "NGO", "OnlineStore", "OnlineBusiness", "EducationalOrganization", "NewsMediaOrganization"],
        "Organization",
    ),
    **dict.fromkeys(
        ["MusicEvent", "SportsEvent", "BusinessEvent", "TheaterEvent", "Festival", "EducationEvent"], "Event"
    ),
}

DATES: Final = frozenset(
    [
        "datePublished",
        "dateModified",
        "dateCreated",
        "uploadDate",
        "startDate",
        "endDate",
        "datePosted",
        "validThrough",
        "expires",
    ]
)
DURATIONS: Final = frozenset(["totalTime", "prepTime", "cookTime", "performTime", "duration", "timeRequired"])
NUMBERS: Final = frozenset(
    ["price", "lowPrice", "highPrice", "ratingValue", "ratingCount", "reviewCount", "position", "answerCount"]
)
URLS: Final = frozenset(
    ["url", "image", "logo", "contentUrl", "embedUrl", "thumbnailUrl", "sameAs", "acquireLicensePage"]
)

_DURATION: Final = re.compile(
    r"P(?=.)(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?)"
)
_NUMBER: Final = re.compile(r"-?\d{1,15}(?:\.\d{1,10})?%?(?:/\d{1,5})?")
_PARTIAL_DATE: Final = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2]))?")


@dataclass(frozen=True, slots=True)
class TypeRule:
    """The required and recommended properties of a type.

    Of each tuple in `one_of` and `recommended`, one property is enough. `variants` maps types of a nested part to the
    names of the rules that replace this one.
    """

    name: str
    required: tuple[str, ...] = ()
    one_of: tuple[tuple[str, ...], ...] = ()
    recommended: tuple[tuple[str, ...], ...] = ()
    key: tuple[str, ...] = ()
    nested: Mapping[str, str] = field(default_factory=dict)
    least: Mapping[str, int] = field(default_factory=dict)
    variants: Mapping[str, str] = field(default_factory=dict)


def rule_for(type_name: str) -> TypeRule | None:
    """Return the rule of a schema.org type or its parent, or `None` if neither has one."""
    return _rules().get(_PARENTS.get(type_name, type_name))


def required_in_crawls(type_name: str) -> tuple[str, ...]:
    """Return the properties that site checks require for exactly this type; empty for other types."""
    return _crawled().get(type_name, ())


@cache
def _crawled() -> dict[str, tuple[str, ...]]:
    properties: dict[str, tuple[str, ...]] = {}
    for name, entry in _entries().items():
        if name[0].isupper():  # the others are parts
            crawled = entry.get("crawled", {})
            properties |= dict.fromkeys(
                crawled.get("types", [name]), tuple(crawled.get("properties", entry.get("required", ())))
            )
    return properties


def part_rule(name: str, types: Iterable[str] = ()) -> TypeRule:
    """Return the rule of a nested part, or the variant for one of its types."""
    rule = _rules()[name]
    variant = next((rule.variants[kind] for kind in types if kind in rule.variants), "")
    return _rules()[variant] if variant else rule


def is_date(text: str) -> bool:
    """Return whether a text is an ISO 8601 date, with or without time, or a year with or without month."""
    plain = text.strip()
    try:
        datetime.fromisoformat(plain)
    except ValueError:
        return _is_plain_date(plain)
    return bool(re.match(r"\d{4}", plain))


def _is_plain_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return _PARTIAL_DATE.fullmatch(text) is not None
    return True


def is_duration(text: str) -> bool:
    """Return whether a text is an ISO 8601 duration, such as PT20M."""
    return _DURATION.fullmatch(text.strip()) is not None


def is_number(value: object) -> bool:
    """Return whether a value is a number, or a decimal string that may end in % or a denominator (`4.5/5`)."""
    if isinstance(value, bool):
        return False
    return isinstance(value, int | float) or (isinstance(value, str) and _NUMBER.fullmatch(value.strip()) is not None)


def is_web_url(text: str) -> bool:
    """Return whether a text is an absolute http or https URL."""
    parts = split_url(text)
    return parts is not None and parts.scheme in {"http", "https"} and bool(parts.hostname)


@cache
def _entries() -> dict[str, dict[str, Any]]:
    return tomllib.loads((files(__package__) / "types.toml").read_text("utf-8"))


@cache
def _rules() -> dict[str, TypeRule]:
    return {
        name: TypeRule(
            name,
            tuple(entry.get("required", ())),
            tuple(map(tuple, entry.get("one_of", ()))),
            tuple(tuple(choice.split("|")) for choice in entry.get("recommended", ())),
            tuple(entry.get("key", ())),
            entry.get("nested", {}),
            entry.get("least", {}),
            entry.get("variants", {}),
        )
        for name, entry in _entries().items()
    }
