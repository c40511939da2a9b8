"""The plugin: one generator, `qr-code-generator`."""

from __future__ import annotations

from collections.abc import Iterable

from pressroom.sdk import (
    Artifact,
    Call,
    Example,
    FileField,
    FormCase,
    FormSection,
    Generator,
    Mcp,
    Page,
    Plugin,
    Promo,
    generator,
    hookimpl,
    per_hour,
)

from pressroom_qr_code_generator.params import QrCodeDetails, QrCodeParams

PLUGIN = Plugin(
    id="qr_code_generator",
    api="1",
    title="QR code generator",
    summary="Makes QR codes as PNG or SVG.",
)

MCP = Mcp(
    name="generate_qr_code",
    quota="images_generated",
    description=(
        "Makes a QR code of a URL, plain text in any script, or a payload such as WIFI:, BEGIN:VCARD, mailto: or tel:. "
        "Returns a link to the file that works for three hours, and a PNG itself. Pass on its warnings. To put it into "
        "an article, pass the link of a PNG to import_image."
    ),
    descriptions={
        "text": "What the code says.",
        "size": "Width and height in pixels.",
        "margin": "Quiet zone in modules; print needs 4.",
        "fgColor": "Squares, hex.",
        "bgColor": "Background, hex; #ffffff00 is transparent.",
        "errorCorrection": "Damage it survives: L 7%, M 15%, Q 25%, H 30%; Q or H for print.",
        "format": "svg scales to any size.",
        "moduleShape": "Look of the modules.",
        "gradientColor": "Gradient from fgColor to this, hex.",
    },
    hide=("content", "eyeShape", "eyeColor", "gradientType", "gradientAngle", "logo", "logoSize"),
)


PROMO = Promo(
    tagline="QR codes that scan, as PNG or SVG.",
    description="Texts up to 2048 characters, Wi-Fi, contacts, events, a logo, shapes and colours, PNG or vector.",
    use_cases=(
        "Links on posters, packaging and slides",
        "Wi-Fi access for guests",
        "Contact cards",
        "Tickets and labels made by a script",
    ),
    llm_instructions=(
        "POST a JSON object with `text` to the generate endpoint; every other parameter has a default. The answer's "
        "data.url is the image. Use response=binary to receive the bytes themselves."
    ),
    related_features=("favicon-generator", "image-generator"),
)

EXAMPLES = (
    Example("A link", {"text": "https://example.com/menu"}),
    Example(
        "Guest Wi-Fi for print, with a wide quiet zone",
        {
            "text": "Guests",
            "content": {"type": "wifi", "password": "correct horse"},
            "size": 1024,
            "margin": 4,
            "errorCorrection": "Q",
        },
    ),
    Example(
        "A transparent SVG in a brand's colour",
        {"text": "https://example.com/", "fgColor": "#1d1a17", "bgColor": "#ffffff00", "format": "svg"},
    ),
    Example(
        "A contact card",
        {"text": "Zoë Łukasiewicz", "content": {"type": "contact", "phone": "+48 22 123 45 67"}, "size": 768},
    ),
    Example(
        "Round shapes and a gradient",
        {
            "text": "https://example.com/menu",
            "moduleShape": "dot",
            "eyeShape": "circle",
            "fgColor": "#1e3a8a",
            "gradientColor": "#9d174d",
        },
    ),
)

PAGE = Page(
    switch="content.type",
    cases=(
        FormCase("text", "Link or text", labels={"text": "Link or text"}, sample={"text": "https://example.com/menu"}),
        FormCase(
            "wifi",
            "Wi-Fi",
            ("content.password", "content.security", "content.hidden"),
            labels={"text": "Network name"},
            sample={"text": "Guests", "content.password": "correct horse"},
        ),
        FormCase(
            "contact",
            "Contact",
            (
                "content.email",
                "content.phone",
                "content.organization",
                "content.jobTitle",
                "content.url",
                "content.location",
                "content.message",
            ),
            labels={"text": "Name", "content.location": "Street and town", "content.message": "Note"},
            sample={
                "text": "Ada Lovelace",
                "content.email": "ada@example.com",
                "content.phone": "+44 20 7946 0000",
            },
        ),
        FormCase(
            "email",
            "E-mail",
            ("content.subject", "content.message"),
            labels={"text": "E-mail address"},
            sample={"text": "hello@example.com", "content.subject": "A question"},
        ),
        FormCase(
            "event",
            "Event",
            ("content.start", "content.end", "content.location", "content.url", "content.message"),
            labels={"text": "Title", "content.location": "Place", "content.message": "Note"},
            sample={"text": "Opening night", "content.start": "2027-05-01T18:00", "content.location": "Main hall"},
        ),
        FormCase("phone", "Phone", labels={"text": "Phone number"}, sample={"text": "+44 20 7946 0000"}),
        FormCase(
            "sms",
            "SMS",
            ("content.message",),
            labels={"text": "Phone number"},
            sample={"text": "+44 20 7946 0000", "content.message": "I am at table 4"},
        ),
        FormCase("geo", "Place", labels={"text": "Latitude, longitude"}, sample={"text": "52.5163,13.3777"}),
    ),
    sections=(
        FormSection(
            "Colours",
            ("fgColor", "bgColor", "gradientColor", "eyeColor", "gradientType", "gradientAngle"),
            open=True,
        ),
        FormSection("Shapes", ("moduleShape", "eyeShape"), open=True),
        FormSection("Logo", ("logo", "logoSize"), open=True),
        FormSection("Size and reliability", ("size", "margin", "errorCorrection")),
    ),
    files=(FileField("logo", ("image/png", "image/jpeg", "image/webp")),),
    labels={
        "content.type": "What is in it",
        "content.email": "E-mail address",
        "fgColor": "Squares",
        "bgColor": "Background",
        "gradientColor": "Gradient to",
        "eyeColor": "Corners",
    },
    values={
        "moduleShape": {"square": "Square", "dot": "Dots", "rounded": "Rounded"},
        "eyeShape": {"square": "Square", "rounded": "Rounded", "circle": "Round"},
        "gradientType": {"linear": "Linear", "radial": "Radial"},
        "content.security": {"WPA": "WPA or WPA2", "SAE": "WPA3 only", "WEP": "WEP", "nopass": "Open"},
    },
    thumbnails={
        "moduleShape": {"text": "HTTPS://EXAMPLE.COM", "margin": 1, "fgColor": "#1d1a17"},
        "eyeShape": {"text": "HTTPS://EXAMPLE.COM", "margin": 1, "fgColor": "#1d1a17"},
    },
)

NOTES = (
    "A code with shapes, a gradient or a logo is read back before it is returned, and refused if that fails.",
    "Any colours are drawn, but many readers fail below a contrast of 3:1 or where fgColor is the lighter one.",
    "A transparent background takes on whatever is below it: put the code on a light, even surface.",
    "ISO/IEC 18004 asks for a quiet zone of 4 modules. With a smaller margin, put the code on its background's colour.",
)


@generator(
    slug="qr-code-generator",
    name="QR code generator",
    summary="Makes a QR code as PNG or SVG.",
    tags=("qr", "barcode", "image", "svg"),
    rate_limit=per_hour(300),
    executor="process",
    timeout=5,
    produces=("image/png", "image/svg+xml"),
    details=QrCodeDetails,
    mcp=MCP,
    promo=PROMO,
    examples=EXAMPLES,
    notes=NOTES,
    page=PAGE,
)
def generate(params: QrCodeParams, call: Call) -> Artifact:
    """Turns a text into a QR code (ISO/IEC 18004) of an exact size in pixels, or into a vector drawing."""
    from pressroom_qr_code_generator.render import render  # noqa: PLC0415 - segno loads in the worker

    return render(params)


@hookimpl
def pressroom_generators() -> Iterable[Generator]:
    """Offer the generator."""
    return [generate]
