"""The plugin: one generator, `code-to-image`."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version

from pressroom.graphics.font_sources import fonts_revision
from pressroom.sdk import (
    Artifact,
    Call,
    Example,
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

from pressroom_code_to_image.names import FONT_FAMILIES, LANGUAGE_TITLES, THEME_TITLES
from pressroom_code_to_image.params import CodeImageDetails, CodeImageParams

PLUGIN = Plugin(
    id="code_to_image",
    api="1",
    title="Code to image",
    summary="Makes images of source code, with syntax colours in a window.",
)

MCP = Mcp(
    name="generate_code_image",
    quota="images_generated",
    description=(
        "Makes a PNG image of source code in an editor window, with syntax colours, for posts, slides and articles. "
        "For code that is to be copied or run, give the text instead. Up to about 40 lines are legible in a post; cut "
        "longer code to what matters. Returns the image itself and a link that works for three hours; pass the link to "
        "import_image to illustrate an article."
    ),
    descriptions={
        "code": "The code, with real line breaks and indentation.",
        "language": "For the syntax colours: any common name or alias, or auto.",
        "title": "File name in the title bar; an empty text hides it.",
        "lineNumbers": "Number the lines.",
        "width": "Pixels; the height follows from the lines.",
        "background": "CSS colour or gradient behind the window.",
        "highlightLines": "Such as 2,4-6.",
        "diff": "Lines begin with +, - or a space.",
    },
    hide=(
        "windowControls",
        "padding",
        "focusLines",
        "fontSize",
        "font",
        "autoWidth",
        "scale",
        "radius",
        "shadow",
        "format",
    ),
)


PROMO = Promo(
    tagline="Code that looks as good as it reads.",
    description="Hundreds of languages, twenty themes with their original colours, any background, PNG or SVG.",
    use_cases=(
        "Posts on social networks",
        "Slides and talks",
        "Headers of articles and release notes",
        "Images of examples, made by a script",
    ),
    llm_instructions=(
        "POST a JSON object with `code` and `language` to the generate endpoint; every other parameter has a default, "
        "and `title` an empty text where no file name is meant. The answer's data.url is the image. Use "
        "response=binary to receive the bytes themselves."
    ),
    related_features=("image-generator", "qr-code-generator"),
)

_GREETING = """\
from dataclasses import dataclass


@dataclass(frozen=True)
class Greeting:
    name: str

    def __str__(self) -> str:
        return f"Hello, {self.name}!"


print(Greeting("world"))
"""

EXAMPLES = (
    Example(
        "A function in TypeScript",
        {
            "code": "export function sum(values: number[]): number {\n"
            "  return values.reduce((total, value) => total + value, 0);\n}",
            "language": "auto",
            # A file's extension would decide the language of whatever people paste there.
            "title": "sum",
        },
    ),
    Example(
        "Python on a light theme",
        {
            "code": _GREETING,
            "language": "python",
            "theme": "github-light",
            "title": "greeting.py",
            "background": "linear-gradient(135deg, #ffd3a5, #fd6585)",
        },
    ),
    Example(
        "A command without a title bar",
        {
            "code": "curl -s https://example.com/feed.json | jq '.items[0].title'",
            "language": "bash",
            "theme": "nord",
            "title": "",
            "windowControls": False,
            "lineNumbers": False,
            "padding": 32,
        },
    ),
    Example(
        "A wide image with a transparent background",
        {
            "code": "SELECT country, COUNT(*) AS customers\nFROM customers\nGROUP BY country\nORDER BY customers DESC;",
            "language": "sql",
            "theme": "dracula",
            "title": "customers.sql",
            "width": 1200,
            "background": "transparent",
        },
    ),
)

PAGE = Page(
    sections=(
        FormSection("Background", ("background", "padding", "shadow"), open=True),
        FormSection("Window", ("title", "windowControls", "lineNumbers", "radius", "font", "fontSize"), open=True),
        FormSection("Lines", ("highlightLines", "focusLines", "diff")),
        FormSection("Size", ("width", "autoWidth")),
    ),
    labels={
        "windowControls": "Buttons",
        "highlightLines": "Highlighted lines",
        "focusLines": "Lines in focus",
        "autoWidth": "Fit the code",
        "radius": "Corners",
    },
    values={"theme": THEME_TITLES, "language": LANGUAGE_TITLES, "font": FONT_FAMILIES},
    # As large as the code can be: of a whole window nobody sees the colours.
    thumbnails={
        "theme": {
            "code": "def f(a=1):\n  # sum\n  return 'b'",
            "language": "python",
            "title": "",
            "windowControls": False,
            "lineNumbers": False,
            "padding": 16,
            "width": 400,
            "fontSize": 32,
            "radius": 0,
            "shadow": 0,
            "autoWidth": True,
            "background": "transparent",
        }
    },
)

NOTES = (
    "Tab stops are every 4 columns. Long lines wrap, at a space or a bracket where one is near.",
    "Invisible and direction-changing characters, such as U+202E, are shown as code points.",
    "The text of an SVG is drawn as outlines: it looks the same everywhere, and needs no font.",
    "An image is at most 20,000 pixels high and has at most 24 million pixels: 800 rows at a width of 900.",
)


@generator(
    slug="code-to-image",
    name="Code to image",
    summary="Makes an image of source code, with syntax colours in a window.",
    tags=("code", "syntax highlighting", "screenshot", "image", "png", "svg"),
    rate_limit=per_hour(60),
    executor="process",
    timeout=5,
    produces=("image/png", "image/svg+xml"),
    details=CodeImageDetails,
    mcp=MCP,
    promo=PROMO,
    examples=EXAMPLES,
    notes=NOTES,
    cache_revision=f"{fonts_revision()} {version('pygments')}",
    preview=Preview(live=True),
    page=PAGE,
)
def generate(params: CodeImageParams, call: Call) -> Artifact:
    """Draws code as an editor shows it, in a window with a shadow, on a colour or a gradient."""
    from pressroom_code_to_image.render import render  # noqa: PLC0415 - Pygments and the fonts load in the worker

    return render(params)


@hookimpl
def pressroom_generators() -> Iterable[Generator]:
    """Offer the generator."""
    return [generate]
