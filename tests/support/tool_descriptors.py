"""Catalog descriptors of the four tools in the interface contract (sections 2.10 and 4.4 to 4.7)."""

from __future__ import annotations

from typing import Any

RESPONSE = {
    "name": "response",
    "type": "enum",
    "required": False,
    "description": "What is returned: an answer with a signed link, or the file itself.",
    "default": "url",
    "enumValues": ["url", "binary"],
}


def param(name: str, type_: str, description: str, *, required: bool = False, **rest: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, "required": required, "description": description, **rest}


def descriptor(
    slug: str, name: str, description: str, requests: int, endpoint: dict[str, Any], **rest: Any
) -> dict[str, Any]:
    return {
        "slug": slug,
        "name": name,
        "description": description,
        "pageUrl": f"/tools/{slug}",
        "apiBaseUrl": f"/tools/{slug}/api",
        "hasApi": True,
        "clientOnly": False,
        "tags": [],
        "rateLimit": {"requests": requests, "windowSec": 3600},
        "endpoints": [{"path": "/generate", "method": "POST", "cacheDiscount": 0.1, "examples": []} | endpoint],
        "promo": {"tagline": name, "useCases": [], "relatedFeatures": []},
        "notes": [],
    } | rest


QR = descriptor(
    "qr-code-generator",
    "QR code generator",
    "Makes a QR code (ISO/IEC 18004) from any text, in the size and colours that you choose.\n\n"
    "The code is as small as the text allows. If a higher level of error correction fits into the same size, "
    "it is used, so that the code survives more dirt for free.",
    300,
    {
        "summary": "Turn a link or any text into a QR code, as PNG or SVG.",
        "description": "Makes one QR code. A text that does not fit at the level asked is refused, never cut.",
        "responseContentType": ["application/json", "image/png", "image/svg+xml"],
        "params": [
            param(
                "text",
                "string",
                "What the code says: a link, a contact, Wi-Fi access.",
                required=True,
                min=1,
                max=2048,
                example="https://example.com",
            ),
            param("size", "number", "Width and height in pixels.", min=64, max=2048, default=512),
            param("margin", "number", "Quiet zone around the code, in modules.", min=0, max=16, default=2),
            param("fgColor", "string", "Colour of the modules.", default="#000000", max=9),
            param("bgColor", "string", "Colour behind them; `#ffffff00` is transparent.", default="#ffffff", max=9),
            param(
                "errorCorrection",
                "enum",
                "How much may be lost: about 7, 15, 25 or 30 percent.",
                default="M",
                enumValues=["L", "M", "Q", "H"],
            ),
            param("format", "enum", "PNG for screens, SVG for print.", default="png", enumValues=["png", "svg"]),
            RESPONSE,
        ],
        "examples": [
            {"title": "Link", "params": {"text": "https://example.com/spring"}},
            {"title": "Wi-Fi", "params": {"text": "WIFI:T:WPA;S:Guests;P:it's a secret;;", "errorCorrection": "Q"}},
            {
                "title": "In colour, as SVG",
                "params": {"text": "Hello", "fgColor": "#b9502a", "format": "svg", "size": 1024},
            },
        ],
    },
    tags=["qr", "barcode", "image"],
    promo={
        "tagline": "QR codes in one request.",
        "description": "Put the code straight into an article from your AI client.",
        "useCases": ["Links on posters and packaging", "Wi-Fi access for guests", "Contact cards"],
        "ctaUrl": "https://pressroom.example/docs",
        "relatedFeatures": ["generate_qr_code"],
    },
    sampleData={"size": 512, "format": "png"},
)

FAVICON = descriptor(
    "favicon-generator",
    "Favicon generator",
    "Draws an emoji, a letter or a short text as an icon, in every size that browsers and phones ask for.",
    60,
    {
        "summary": "Every icon a website needs, from one letter or emoji, in a ZIP.",
        "description": "Makes a ZIP with seven PNGs and ICO files, a web manifest and the HTML tags to paste.",
        "responseContentType": ["application/json", "application/zip"],
        "params": [
            param(
                "source", "enum", "How the content is read.", default="letter", enumValues=["emoji", "letter", "text"]
            ),
            param(
                "content", "string", "One emoji, one letter or a short text.", required=True, min=1, max=8, example="P"
            ),
            param("bgColor", "string", "Colour of the background.", default="#b9502a", max=9),
            param("fgColor", "string", "Colour of the letters; emoji have their own.", default="#ffffff", max=9),
            param(
                "radius", "number", "How round the corners are: 0 is a square, 50 a circle.", min=0, max=50, default=20
            ),
            param(
                "fontFamily", "enum", "Typeface of the letters.", default="Inter", enumValues=["Inter", "serif", "mono"]
            ),
            param("fontWeight", "number", "Weight of the letters.", default=800, enumValues=[400, 600, 700, 800, 900]),
            RESPONSE,
        ],
        "examples": [
            {"title": "Letter", "params": {"content": "P"}},
            {"title": "Emoji", "params": {"source": "emoji", "content": "🗞️", "bgColor": "#faf7f2"}},
        ],
    },
    tags=["favicon", "icon"],
    notes=["Emoji are drawn with Twemoji (CC-BY 4.0): name it where you name your sources."],
    sampleData={"files": ["favicon-16x16.png", "favicon.ico", "site.webmanifest", "favicon-tags.html"]},
)

CODE = descriptor(
    "code-to-image",
    "Code to image",
    "Renders source code as a card with syntax colours. The height follows from the number of lines.",
    60,
    {
        "summary": "An image of your code, in colours that people know from their editor.",
        "description": "Draws a card with the code on it. Long lines wrap.",
        "responseContentType": ["application/json", "image/png"],
        "params": [
            param(
                "code",
                "string",
                "The source code.",
                required=True,
                min=1,
                max=8000,
                example="const answer: number = 42;",
            ),
            param(
                "language",
                "enum",
                "Language that the colours follow.",
                default="typescript",
                enumValues=[
                    "javascript",
                    "typescript",
                    "python",
                    "go",
                    "rust",
                    "bash",
                    "json",
                    "html",
                    "css",
                    "sql",
                    "plaintext",
                ],
            ),
            param(
                "theme",
                "enum",
                "Colours of the card.",
                default="tokyo-night",
                enumValues=[
                    "dracula",
                    "nord",
                    "github-dark",
                    "github-light",
                    "monokai",
                    "one-dark",
                    "solarized-dark",
                    "tokyo-night",
                ],
            ),
            param("title", "string", "File name in the title bar; empty hides it.", default="example.ts", max=60),
            param("windowControls", "boolean", "Show the three window buttons.", default=True),
            param("lineNumbers", "boolean", "Number the lines.", default=True),
            param("padding", "number", "Space around the card, in pixels.", min=16, max=128, default=48),
            param("width", "number", "Width of the image, in pixels.", min=400, max=2000, default=900),
            param(
                "background",
                "string",
                "CSS colour or gradient behind the card.",
                min=1,
                max=100,
                default="linear-gradient(135deg, #b9502a, #3b2a5a)",
            ),
            RESPONSE,
        ],
        "examples": [
            {
                "title": "Python, no title",
                "params": {
                    "code": "def hello(name):\n    return f'Hello, {name}'\n",
                    "language": "python",
                    "title": "",
                    "lineNumbers": False,
                },
            },
        ],
    },
    tags=["code", "screenshot", "image"],
    sampleData={"width": 900, "height": 340, "format": "png"},
)

IMAGE = descriptor(
    "image-generator",
    "Image generator",
    "Renders HTML with inline styles, or one of five templates, to an image for link previews and social networks.",
    60,
    {
        "summary": "Social cards and banners from a template or your own HTML.",
        "description": "Give exactly one of `html` and `template`. Every element is `display:flex` or a leaf.",
        "responseContentType": ["application/json", "image/png", "image/jpeg"],
        "params": [
            param(
                "html",
                "string",
                "HTML with inline styles. Images load from `https://` or `data:image/` addresses.",
                max=10000,
            ),
            param(
                "template",
                "enum",
                "A ready-made design, in place of `html`.",
                enumValues=["og", "twitter-header", "linkedin-banner", "square", "story"],
            ),
            param(
                "props", "object", "Texts and colours of the template.", example={"title": "Hello", "theme": "gradient"}
            ),
            param("width", "number", "Width in pixels.", min=200, max=2400, default=1200),
            param("height", "number", "Height in pixels; not together with `aspectRatio`.", min=200, max=2400),
            param("aspectRatio", "string", "Width to height, such as 16:9.", max=20, example="16:9"),
            param(
                "format", "enum", "PNG keeps every detail, JPEG is smaller.", default="png", enumValues=["png", "jpeg"]
            ),
            RESPONSE,
        ],
        "examples": [
            {
                "title": "Link preview",
                "params": {"template": "og", "props": {"title": "Spring issue", "theme": "gradient"}},
            },
            {
                "title": "Own HTML",
                "params": {"html": '<div style="display:flex">Hello</div>', "width": 800, "height": 418},
            },
        ],
    },
    tags=["image", "social", "og"],
    sampleData={"width": 1200, "height": 630, "format": "png"},
)

ALL = (CODE, FAVICON, IMAGE, QR)
