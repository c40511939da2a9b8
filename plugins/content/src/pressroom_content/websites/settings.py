"""The settings of a website, and the shared keys that encrypt credentials."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, available_timezones

from pressroom.sdk import InvalidInput, Params, PluginContext, SharedKeys
from pydantic import AfterValidator, Field, ValidationError
from sqlalchemy import select

from pressroom_content.config import ContentConfig
from pressroom_content.contract import BUILTIN
from pressroom_content.tables import WebsiteRow
from pressroom_content.vault import Vault


def credential_keys(plugin: PluginContext[ContentConfig]) -> Sequence[SharedKeys]:
    """Return the keys that the host compares with those of other hosts."""

    async def unreadable(session: Any) -> int:
        vault = Vault.of(plugin)
        connected = select(WebsiteRow.credential).where(
            WebsiteRow.credential != "", WebsiteRow.disconnected_at.is_(None)
        )
        return sum(not vault.can_open(sealed) for sealed in await session.scalars(connected))

    return [
        SharedKeys(
            "credential_keys",
            "[plugins.content.config] credential_keys",
            read=lambda: Vault.of(plugin).secrets,
            configured=bool(plugin.config.credential_keys),
            lost="websites whose credentials the old key encrypted have to be connected again",
            unreadable=unreadable,
            rows="credentials of websites",
        )
    ]


_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}", re.ASCII)


def _timezone(name: str) -> str:
    if name not in available_timezones():
        raise ValueError("must be the name of a time zone such as Europe/Berlin or UTC")
    return name


def _language(tag: str) -> str:
    if tag and not _LANGUAGE.fullmatch(tag):
        raise ValueError("must be a language tag such as en, de-CH or pt-BR (RFC 5646)")
    return tag


_COLOR = re.compile(r"#[0-9a-f]{6}", re.ASCII)
_MAX_URL: Final = 2000
MAX_MENU: Final = 12
"""The maximum number of links in the menu of a built-in site."""

_UNSAFE = re.compile(r"[\s\"'<>\\\x00-\x1f\x7f]")


def _color(text: str) -> str:
    color = text.strip().lower()
    if len(color) == 4 and color.startswith("#"):
        color = "#" + "".join(2 * digit for digit in color[1:])
    if color and not _COLOR.fullmatch(color):
        raise ValueError("must be a colour such as #b3402a")
    return color


def _image_url(url: str) -> str:
    url = url.strip()
    if url and (_UNSAFE.search(url) or not _is_web_or_path(url, ("https",))):
        raise ValueError(
            "must be the https URL of an image, or a path on this server such as /sites/my-blog/files/logo.png"
        )
    return url


def _link(url: str) -> str:
    url = url.strip()
    if _UNSAFE.search(url) or not (_is_web_or_path(url, ("http", "https")) or url.startswith("mailto:")):
        raise ValueError("must be an http or https URL, a path such as /about, or mailto: with an e-mail address")
    return url


def _is_web_or_path(url: str, schemes: Sequence[str]) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return (parts.scheme in schemes and bool(parts.hostname)) or (url.startswith("/") and not url.startswith("//"))


class MenuItem(Params):
    """A link in the menu of a built-in site. A path is one of the site itself: `/about` is its page `about`."""

    label: str = Field(min_length=1, max_length=60, description="What the link says.")
    url: Annotated[str, AfterValidator(_link)] = Field(max_length=_MAX_URL, description="Where it leads.")


class WebsiteSettings(Params):
    """The settings of a website, with their defaults."""

    default_status: Literal["publish", "draft"] = Field(
        default="publish", description="What publish_content does where its mode is left out."
    )
    author: str = Field(default="", max_length=200, description="Author of articles that name none.")
    category: str = Field(default="", max_length=200, description="Category of articles that have none.")
    timezone: Annotated[str, AfterValidator(_timezone)] = Field(
        default="UTC", max_length=64, description="Time zone in which times without an offset are read."
    )
    language: Annotated[str, AfterValidator(_language)] = Field(
        default="", max_length=35, description="Language of articles that name none."
    )
    image_policy: Literal["rehost", "hotlink", "none"] = Field(
        default="rehost",
        description=(
            "rehost: images are uploaded to the site where their licence allows it. hotlink: they stay where they are. "
            "none: no image of the library is sent."
        ),
    )
    indexnow: bool = Field(default=False, description="Whether search engines are told of changes by IndexNow.")
    description: str = Field(
        default="",
        max_length=500,
        description="A sentence about the site; the built-in site shows it on its home page.",
    )
    theme: Literal["classic", "modern", "magazine"] = Field(
        default="classic",
        description="Built-in sites: classic is a list in a serif type, modern has cards, magazine large covers.",
    )
    color_scheme: Literal["auto", "light", "dark"] = Field(
        default="auto", description="Built-in sites: light, dark, or auto for what each reader's device prefers."
    )
    accent_color: Annotated[str, AfterValidator(_color)] = Field(
        default="", max_length=20, description="Built-in sites: colour of links and buttons, such as #b3402a."
    )
    logo: Annotated[str, AfterValidator(_image_url)] = Field(
        default="", max_length=_MAX_URL, description="Built-in sites: URL of an image, shown before the name."
    )
    logo_dark: Annotated[str, AfterValidator(_image_url)] = Field(
        default="", max_length=_MAX_URL, description="Built-in sites: URL of the logo that is shown on a dark page."
    )
    logo_has_name: bool = Field(
        default=False,
        description="Built-in sites: whether the logo says the name, which is then not written beside it.",
    )
    favicon: Annotated[str, AfterValidator(_image_url)] = Field(
        default="", max_length=_MAX_URL, description="Built-in sites: URL of a square image for browser tabs."
    )
    menu: list[MenuItem] = Field(
        default=[],
        max_length=MAX_MENU,
        description="Built-in sites: links in the header, each with label and url. Empty: the pages and the archive.",
    )


DEFAULTS: Final = WebsiteSettings()
BLOG: Final = ("theme", "color_scheme", "accent_color", "logo", "logo_dark", "logo_has_name", "favicon", "menu")
"""Settings that only built-in sites have."""


def names_of(platform: str) -> Sequence[str]:
    """Return the names of the settings that websites of a platform have."""
    return [name for name in WebsiteSettings.model_fields if platform == BUILTIN or name not in BLOG]


def effective(platform: str, stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a website including defaults, as clients see them."""
    return read(stored).model_dump(mode="json", include=set(names_of(platform)))


def changed(platform: str, current: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with changes applied. A change to null restores the default.

    Raises `InvalidInput`, which includes the setting's name.
    """
    for name in BLOG:
        if name in changes and platform != BUILTIN:
            raise InvalidInput(f"settings.{name}", "is a setting of built-in sites; change it on the website itself")
    merged = {**current, **changes}
    values = {name: value for name, value in merged.items() if value is not None}
    try:
        settings = WebsiteSettings.model_validate(values)
        # An explicit UTC differs from the default UTC, which the site's own time zone replaces.
        explicit = {"timezone": settings.timezone} if "timezone" in values else {}
        return settings.model_dump(mode="json", exclude_defaults=True) | explicit
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden":
            names = ", ".join(names_of(platform))
            raise InvalidInput(f"settings.{name}", f"is not known; there are {names}") from None
        raise InvalidInput(f"settings.{name}", first["msg"].removeprefix("Value error, ")) from None


def read(stored: Mapping[str, Any]) -> WebsiteSettings:
    """Parse stored settings. Unknown ones are ignored."""
    supported = {name: value for name, value in stored.items() if name in WebsiteSettings.model_fields}
    return WebsiteSettings.model_validate(supported)


def zone_of(stored: Mapping[str, Any]) -> ZoneInfo:
    """Return the time zone of a website."""
    return ZoneInfo(read(stored).timezone)
