"""The plugin: one generator, `favicon-generator`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pressroom.graphics.font_sources import fonts_revision
from pressroom.sdk import (
    Artifact,
    Call,
    Example,
    FileField,
    FormSection,
    Generator,
    Mcp,
    Page,
    Plugin,
    Preview,
    Promo,
    generator,
    hookimpl,
    per_hour,
)

from pressroom_favicon_generator.params import FaviconDetails, FaviconParams

PLUGIN = Plugin(
    id="favicon_generator",
    api="1",
    title="Favicon generator",
    summary="Makes all the icons of a website from an emoji, a letter, a short text or your own image.",
)

MCP = Mcp(
    name="generate_favicon",
    description=(
        "Makes the icons of a website (favicon.ico, PNGs, Apple touch icon, Android icons, web manifest, HTML tags) "
        "from an emoji, a letter or a short text, as a ZIP. Returns a link to the ZIP that works for three hours, and "
        "the names of its files. Leave colours out unless the user names a brand."
    ),
    descriptions={
        "source": "What content is; text for 2 to 8 letters.",
        "content": "The symbols; more than 2 are illegible at 16 pixels.",
        "bgColor": "Background, hex; #ffffff00 is transparent.",
        "fgColor": "Letters, hex.",
        "radius": "Roundness: 0 is a square, 50 a circle.",
        "fontFamily": "Font of letters.",
        "fontWeight": "Weight of letters.",
        "name": "The website's name.",
    },
    hide=("image", "imageBackground", "imagePadding", "darkColor", "maskable"),
)


PROMO = Promo(
    tagline="Every icon that a website needs, from one letter or emoji.",
    description="ICO, PNG, Apple touch icon, Android icons, web manifest and the HTML tags, in one ZIP.",
    use_cases=(
        "A new website or prototype",
        "Documentation and status pages",
        "Internal tools",
        "Icons made by a script",
    ),
    llm_instructions=(
        "POST a JSON object with `content` (and `source` for an emoji or several letters) to the generate endpoint. "
        "The answer's data.url is a ZIP; favicon-tags.html in it holds the tags for the page's head."
    ),
    related_features=("qr-code-generator", "image-generator"),
)

LOGO: Final = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 64 64'%3E"
    "%3Cpath fill='%231d4ed8' fill-rule='evenodd' "
    "d='M32 2 58 17v30L32 62 6 47V17zM32 20 22 26v12l10 6 10-6V26z'/%3E%3C/svg%3E"
)

EXAMPLES = (
    Example("A letter", {"content": "P"}),
    Example("An emoji on a dark circle", {"source": "emoji", "content": "🚀", "bgColor": "#1d1a17", "radius": 50}),
    Example(
        "Two letters in a serif font", {"source": "text", "content": "Ag", "fontFamily": "serif", "fontWeight": 600}
    ),
    Example(
        "Your own SVG, white in dark mode",
        {"content": "P", "image": LOGO, "darkColor": "#ffffff", "maskable": True, "name": "Example"},
    ),
    Example("An emoji alone", {"source": "emoji", "content": "🌿", "bgColor": "#ffffff00", "radius": 0}),
)

PAGE = Page(
    sections=(
        FormSection("Letters", ("fontFamily", "fontWeight")),
        FormSection("Your own image", ("image", "imageBackground", "imagePadding", "darkColor"), open=True),
        FormSection("Web app", ("name", "maskable")),
    ),
    files=(FileField("image", ("image/svg+xml", "image/png", "image/jpeg", "image/webp")),),
    labels={
        "bgColor": "Background",
        "fgColor": "Letters",
        "imageBackground": "Behind the image",
        "imagePadding": "Padding",
        "darkColor": "In dark mode",
        "maskable": "Maskable icons",
    },
    values={
        "source": {"emoji": "Emoji", "letter": "Letter", "text": "Text"},
        "fontFamily": {"Inter": "Inter", "serif": "Serif", "mono": "Mono"},
    },
    sample=FaviconDetails(
        files=["favicon.ico", "favicon-32x32.png", "favicon-tags.html"],
        html='<link rel="icon" href="/favicon.ico" sizes="16x16 32x32 48x48">',
    ),
)

NOTES = (
    "More than two letters can hardly be read at 16 pixels.",
    "Apple devices round icons themselves: the Apple touch icon is an opaque square.",
    "In your own SVG, scripts, event handlers and references to other files are removed; entities are refused.",
    "Emoji are Twemoji's, copyright Twitter and other contributors, CC-BY 4.0: keep that notice with them.",
)


@generator(
    slug="favicon-generator",
    name="Favicon generator",
    summary="Makes all the icons of a website from an emoji, a letter, a short text or your own image.",
    tags=("favicon", "icon", "ico", "emoji", "image"),
    rate_limit=per_hour(60),
    executor="process",
    timeout=5,
    produces=("application/zip",),
    details=FaviconDetails,
    mcp=MCP,
    promo=PROMO,
    examples=EXAMPLES,
    notes=NOTES,
    cache_revision=fonts_revision(),
    preview=Preview("icons", live=True),
    page=PAGE,
)
def generate(params: FaviconParams, call: Call) -> Artifact:
    """Draws an emoji, a letter, a short text or your own image at every size that is asked for, and packs a ZIP."""
    from pressroom_favicon_generator.bundle import make_bundle  # noqa: PLC0415 - fonts load in the worker

    return make_bundle(params)


@hookimpl
def pressroom_generators() -> Iterable[Generator]:
    """Offer the generator."""
    return [generate]
