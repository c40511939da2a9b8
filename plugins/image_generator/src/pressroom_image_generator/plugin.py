"""The plugin: one generator, `image-generator`, and a hook for more templates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pressroom.graphics.font_sources import fonts_revision
from pressroom.sdk import (
    Artifact,
    Call,
    FileField,
    FormSection,
    Generator,
    Mode,
    Page,
    Plugin,
    PluginContext,
    Preview,
    Promo,
    Snippet,
    generator,
    hookimpl,
    per_hour,
)

from pressroom_image_generator.guidance import EXAMPLES, MCP
from pressroom_image_generator.params import ImageDetails, ImageParams
from pressroom_image_generator.preparing import Preparation, WorkerInput, offered_params
from pressroom_image_generator.templates import BUILT_IN, THEMES, ImageTemplateHooks

PLUGIN = Plugin(
    id="image_generator",
    api="1",
    title="Image generator",
    summary="Turns a template or HTML into a PNG or JPEG.",
    hookspecs=ImageTemplateHooks,
    unique={"pressroom_image_templates": "name"},
)

PROMO = Promo(
    tagline="Images from HTML, or from designed templates.",
    description="Open Graph images, quotes, events, changelogs and stories, in any brand colours, as PNG or JPEG.",
    use_cases=(
        "Open Graph images for every page of a site",
        "Headers for profiles",
        "Quotes and announcements for social networks",
        "Certificates, tickets and badges made by a script",
    ),
    llm_instructions=(
        "POST a JSON object with `template` and `props`, or with `html`, to the generate endpoint; every other "
        "parameter has a default. The response's data.url is the image. Use response=binary to receive the bytes."
    ),
    related_features=("code-to-image", "qr-code-generator", "favicon-generator"),
)

_LANDSCAPE = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 120 63'%3E"
    "%3Cpath fill='%23f2b98a' d='M0 0h120v63H0z'/%3E%3Ccircle cx='88' cy='22' r='11' fill='%23fff1dc'/%3E"
    "%3Cpath fill='%238c5a6e' d='M0 46 34 18l30 26 18-12 38 26v9H0z'/%3E"
    "%3Cpath fill='%23433550' d='M0 63V54l40-12 34 14 46-10v17z'/%3E%3C/svg%3E"
)
"""A photo for thumbnails."""

_FILE_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif", "image/avif", "image/svg+xml")

PAGE = Page(
    gallery=True,
    sections=(
        FormSection(
            "Text",
            ("props.title", "props.subtitle", "props.eyebrow", "props.author", "props.siteName", "props.items"),
            open=True,
        ),
        FormSection("Look", ("props.theme", "props.accentColor", "props.backgroundColor", "props.align"), open=True),
        FormSection("Images", ("props.imageUrl", "props.logoUrl", "props.avatarUrl"), open=True),
        FormSection("Size", ("width", "height", "aspectRatio")),
    ),
    files=tuple(
        FileField(name, _FILE_TYPES, urls=True) for name in ("props.imageUrl", "props.logoUrl", "props.avatarUrl")
    ),
    # With a photo and items one sees what the templates do with them.
    thumbnails={
        "template": {
            "props": {
                "title": "A year of small releases",
                "subtitle": "Calmer Fridays, fewer surprises.",
                "eyebrow": "Engineering",
                "author": "Ada Lovelace",
                "siteName": "example.com",
                "items": ["12k readers", "48 articles", "3.1% growth"],
                "imageUrl": _LANDSCAPE,
            }
        }
    },
    labels={
        "props.imageUrl": "Photo",
        "props.logoUrl": "Logo",
        "props.avatarUrl": "Photo of the author",
        "props.accentColor": "Accent",
        "props.backgroundColor": "Background",
        "props.align": "Alignment",
    },
    values={
        "template": {
            "og": "Link preview",
            "twitter-header": "X header",
            "linkedin-banner": "LinkedIn banner",
            **{name: name.replace("-", " ").capitalize() for name in BUILT_IN if "-" not in name and name != "og"},
        },
        "props.theme": {name: name.capitalize() for name in THEMES},
        "props.align": {"left": "Left", "center": "Centre"},
    },
    modes=(Mode("Template", ("template", "props")), Mode("HTML", ("html",))),
    sample=ImageDetails(width=1200, height=630, format="png"),
    snippets=(
        Snippet(
            title="og:image tags",
            text=(
                '<meta property="og:image" content="{url}">\n'
                '<meta property="og:image:type" content="image/{format}">\n'
                '<meta property="og:image:width" content="{width}">\n'
                '<meta property="og:image:height" content="{height}">\n'
                '<meta name="twitter:card" content="summary_large_image">'
            ),
            note="The button “Lasting link” makes these tags with a URL that does not expire.",
        ),
    ),
)

NOTES = (
    "What cannot be drawn is left out and named in data.warnings and in the header X-Warnings.",
    "Images are fetched from public https URLs: at most 10, of 5 MB each, within 8 seconds in total.",
    "The same parameters give the same file for as long as it is cached, even if an image at a URL changes.",
    "Emoji are Twemoji's, copyright Twitter and other contributors, CC-BY 4.0: keep that notice with them.",
)


@generator(
    slug="image-generator",
    name="Image generator",
    summary="Turns a template or HTML into a PNG or JPEG.",
    tags=("image", "open-graph", "html", "template", "png", "jpeg"),
    rate_limit=per_hour(60),
    executor="process",
    timeout=10,
    cache_revision=fonts_revision(),
    produces=("image/png", "image/jpeg"),
    details=ImageDetails,
    mcp=MCP,
    promo=PROMO,
    examples=EXAMPLES,
    notes=NOTES,
    preview=Preview(live=True),
    page=PAGE,
)
def generate(params: ImageParams, call: Call) -> Artifact:
    """Draws HTML with inline styles, or one of the templates with your texts, as an image of an exact size."""
    from pressroom_image_generator.rendering import render  # noqa: PLC0415 - fonts load in the worker

    return render(params, call.prepared or WorkerInput())


@hookimpl
def pressroom_generators(plugin: PluginContext) -> Iterable[Generator]:
    """Offer the generator."""
    return [replace(generate, params=offered_params(plugin), prepare=Preparation(plugin).prepare)]
