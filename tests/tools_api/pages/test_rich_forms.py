"""Forms with modes, groups of fields and code, from what a generator declares."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pytest
from pressroom.catalog.schema import form_parameters
from pressroom.http.page_frame import PageFrame
from pressroom.interfaces.tools_api.pages import FormState, Pages, input_from_form, page_descriptor
from pressroom.interfaces.tools_api.pages.declared import with_choice
from pressroom.interfaces.tools_api.pages.fields import shows_choices
from pressroom.interfaces.tools_api.pages.forms import form_from_input
from pressroom.interfaces.tools_api.pages.views import ImageUrls
from pressroom.sdk import Artifact, Call, Example, Mode, Page, Params, Snippet, generator, per_hour
from pydantic import BaseModel, Field
from selectolax.lexbor import LexborHTMLParser
from support.page_server import branding, meta
from support.tool_descriptors import QR

IMAGES = ImageUrls(
    examples=("examples/0/tile?v=a", "examples/1?v=b"),
    canvas="examples/0/large?v=a",
    choices={"look.theme": {"light": "choices/look.theme/light?v=a", "dark": "choices/look.theme/dark?v=b"}},
)
PAGES = Pages(PageFrame(branding(), "https://pressroom.example"), images={"card": IMAGES})


class Look(Params):
    """How a card looks."""

    title: str = Field(default="", max_length=50, description="The title.")
    theme: Literal["light", "dark"] = Field(default="light", description="The theme.")
    lines: list[str] = Field(default=[], max_length=4, description="Lines.")
    logo: str | None = Field(default=None, max_length=9999, description="A logo.", json_schema_extra={"format": "uri"})


class CardParams(Params):
    """A card."""

    html: str | None = Field(
        default=None, max_length=500, description="HTML.", json_schema_extra={"contentMediaType": "text/html"}
    )
    kind: Literal["one", "two"] | None = Field(default=None, description="A kind.")
    look: Look | None = Field(default=None, description="The look.")
    width: int | None = Field(
        default=None, ge=200, le=2400, description="The width.", json_schema_extra={"default": 1200}
    )


class CardDetails(BaseModel):
    """What is said of a card."""

    width: int = Field(description="The width.")


PAGE = Page(
    gallery=True,
    modes=(Mode("Kind", ("kind", "look")), Mode("HTML", ("html",))),
    snippets=(Snippet("Tag", '<img src="{url}" width="{width}">', "Read this."),),
    sample=CardDetails(width=1200),
)


@generator(
    slug="card",
    name="Card",
    summary="Makes a card.",
    rate_limit=per_hour(60),
    produces=("image/png",),
    executor="thread",
    details=CardDetails,
    examples=(Example("Dark", {"kind": "two", "look": {"theme": "dark"}}), Example("Mine", {"html": "<b>Hi</b>"})),
    page=PAGE,
)
def card(params: CardParams, call: Call) -> Artifact:
    """Makes a card."""
    raise NotImplementedError


DESCRIPTOR = page_descriptor(
    QR
    | {
        "slug": "card",
        "endpoints": [
            QR["endpoints"][0]
            | {"examples": [{"title": one.title, "params": dict(one.params)} for one in card.examples]}
        ],
    },
    card,
)
PARAMS = form_parameters(CardParams)


def page(state: FormState | None = None) -> LexborHTMLParser:
    return LexborHTMLParser(PAGES.tool(DESCRIPTOR, state).decode())


def value(parsed: LexborHTMLParser, name: str) -> str:
    chosen = parsed.css_first(f"[name='{name}']:checked, select[name='{name}'] option[selected]")
    control = chosen or parsed.css_first(f"[name='{name}']")
    assert control is not None
    return control.text() if control.tag == "textarea" else control.attributes.get("value") or ""


def test_the_members_of_an_object_have_fields_of_their_own() -> None:
    parsed = page()
    assert [node.attributes["name"] for node in parsed.css("[data-group=look] [name]")] == [
        "look.title", "look.theme", "look.theme", "look.lines", "look.logo",
    ]  # fmt: skip
    assert parsed.css_first("[name=look]") is None
    assert parsed.css_first("input[name='look.logo']") is not None


def test_the_form_begins_with_the_first_example() -> None:
    parsed = page()
    assert (value(parsed, "kind"), value(parsed, "look.theme"), value(parsed, "_mode")) == ("two", "dark", "0")
    image = parsed.css_first("#result [data-canvas]")
    assert image is not None
    assert image.attributes["src"] == "/tools/qr-code-generator/examples/0/large?v=a"


def test_themes_are_shown_as_images() -> None:
    parsed = page()
    images = [node.attributes["data-thumbnail"] for node in parsed.css("[data-group=look] .thumbnail-image")]
    assert images == [f"/tools/qr-code-generator/choices/look.theme/{name}" for name in ("light?v=a", "dark?v=b")]
    assert value(parsed, "look.theme") == "dark"


@pytest.mark.parametrize(
    ("name", "extra", "shown"),
    [
        ("codeTheme", {}, True),
        ("kind", {}, False),
        ("kind", {"thumbnails": True}, True),
        ("theme", {"thumbnails": False}, False),
    ],
)
def test_a_choice_is_shown_as_images_by_its_name_or_its_schema(name: str, extra: dict[str, Any], shown: bool) -> None:
    assert shows_choices({"name": name, "type": "enum", "enumValues": ["a", "b"]} | extra) is shown


def test_an_image_of_a_choice_changes_an_example_that_makes_it() -> None:
    samples: list[dict[str, Any]] = [{"html": "<b>"}, {"look": {"theme": "dark", "title": "A"}}]
    assert with_choice(samples, ("look", "theme"), "light") == {"look": {"theme": "light", "title": "A"}}
    assert with_choice(samples, ("kind",), "two") == {"html": "<b>", "kind": "two"}


def test_an_example_of_another_mode_chooses_it() -> None:
    parsed = page(FormState.from_query(DESCRIPTOR, {"example": ["1"]}))
    assert (value(parsed, "_mode"), value(parsed, "html")) == ("1", "<b>Hi</b>")


@pytest.mark.parametrize(
    ("form", "given"),
    [
        ({"_mode": "0", "kind": "one", "look.title": "A", "html": "<b>"}, {"kind": "one", "look": {"title": "A"}}),
        ({"_mode": "1", "kind": "one", "look.title": "A", "html": "<b>"}, {"html": "<b>"}),
        ({"_mode": "0", "kind": "one", "look.theme": "light", "look.title": ""}, {"kind": "one"}),
        ({"_mode": "0", "look.lines": " A b \r\n\r\nC"}, {"look": {"lines": ["A b", "C"]}}),
        ({"_mode": "0", "look.lines": " \n"}, {}),
        ({"_mode": "7", "width": "1200"}, {"width": 1200}),
        ({"_mode": "x", "width": ""}, {}),
        ({"kind": "one", "html": "<b>"}, {"kind": "one", "html": "<b>"}),
    ],
)
def test_a_form_asks_for_what_its_mode_holds(form: dict[str, str], given: dict[str, Any]) -> None:
    posted = {name: [text] for name, text in form.items()}
    assert input_from_form(DESCRIPTOR["endpoints"][0]["params"], posted) == given


def test_a_list_has_a_line_for_each_item() -> None:
    given = {"look": {"lines": ["One", "Two"]}}
    form = form_from_input(PARAMS, given)
    assert form["look.lines"] == ["One\nTwo"]
    assert input_from_form(PARAMS, form) == given
    field = page(FormState(form)).css_first("textarea[name='look.lines']")
    assert field is not None
    assert field.text() == "One\nTwo"
    assert "one per line, up to 4" in page().html  # type: ignore[operator] # there is one


def test_a_default_that_is_only_documented_is_shown_and_not_filled_in() -> None:
    width = page().css_first("[name=width]")
    assert width is not None
    assert (width.attributes["value"], width.attributes["placeholder"]) == ("", "1200")
    assert "200 to 2400, default 1200" in page().html.replace("\n", " ")  # type: ignore[union-attr] # there is one


def test_an_error_in_code_shows_its_line() -> None:
    answer = {
        "ok": False,
        "error": {"code": "validation_error", "message": "html: <i> at line 2, column 1 is not allowed"},
        "meta": meta(QR, 1),
    }
    parsed = page(FormState({"_mode": ["1"], "html": ["<b>\r\n<i onclick='<script>'>"]}, answer))
    assert [node.text() for node in parsed.css(".excerpt figcaption, .excerpt mark")] == ["Line 2, column 1", "<i"]


def test_an_error_of_a_member_stands_beside_its_field() -> None:
    answer = {
        "ok": False,
        "error": {"code": "validation_error", "message": "look.title: too long"},
        "meta": meta(QR, 1),
    }
    title = page(FormState({"kind": ["one"]}, answer)).css_first("[name='look.title']")
    assert title is not None
    assert title.attributes["aria-invalid"] == "true"


def test_a_snippet_names_what_was_made_escaped() -> None:
    data = {"id": "a", "url": 'https://x.example/a?b=1&c="2', "expiresAt": "", "cached": False, "width": 7}
    answer = {"ok": True, "data": data, "meta": meta(QR, 1)}
    snippet = page(FormState({}, answer)).css_first("#snippet-0")
    assert snippet is not None
    assert snippet.text() == '<img src="https://x.example/a?b=1&amp;c=&quot;2" width="7">'
    assert '"1200"' in page().css_first("#snippet-0").text()  # type: ignore[union-attr] # there is one


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        (Page(modes=(Mode("A", ("nothing",)),)), "'nothing', which is not a parameter"),
        (Page(modes=(Mode("A", ("kind",)), Mode("B", ("kind",)))), "one mode only"),
        (Page(modes=tuple(Mode(str(number), ()) for number in range(5))), "2 to 4 modes, or none (got 5)"),
        (Page(snippets=(Snippet("Tag", "{size}"),)), "names size; known are"),
        (Page(sample=Look()), "instance of details"),
    ],
)
def test_a_page_that_cannot_be_is_refused(changed: Page, problem: str) -> None:
    assert card.problems() == []
    assert problem in " ".join(replace(card, page=changed).problems())
    assert "needs examples" in " ".join(replace(card, examples=()).problems())
