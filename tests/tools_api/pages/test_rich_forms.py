"""Forms with modes, field groups and code, generated from a generator's declaration."""

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
from pressroom.sdk import (
    Artifact,
    Call,
    Example,
    FileField,
    FormCase,
    FormSection,
    Mode,
    Page,
    Params,
    Snippet,
    generator,
    per_hour,
)
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
            | {"examples": [{"title": example.title, "params": dict(example.params)} for example in card.examples]}
        ],
    },
    card,
)
PARAMS = form_parameters(CardParams)


def page(state: FormState | None = None) -> LexborHTMLParser:
    return LexborHTMLParser(PAGES.tool(DESCRIPTOR, state).decode())


def value(parsed: LexborHTMLParser, name: str) -> str:
    selected = parsed.css_first(f"[name='{name}']:checked, select[name='{name}'] option[selected]")
    control = selected or parsed.css_first(f"[name='{name}']")
    assert control is not None
    return control.text() if control.tag == "textarea" else control.attributes.get("value") or ""


def test_the_members_of_an_object_have_their_own_fields() -> None:
    parsed = page()
    assert [node.attributes["name"] for node in parsed.css("[data-group=look] [name]")] == [
        "look.title", "look.theme", "look.theme", "look.lines", "look.logo",
    ]  # fmt: skip
    assert parsed.css_first("[name=look]") is None
    assert parsed.css_first("input[name='look.logo']") is not None


def test_the_form_starts_with_the_first_example() -> None:
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


def test_the_image_of_a_choice_is_an_example_with_that_choice() -> None:
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
def test_a_form_has_the_fields_of_its_mode(form: dict[str, str], given: dict[str, Any]) -> None:
    posted = {name: [text] for name, text in form.items()}
    assert input_from_form(DESCRIPTOR["endpoints"][0]["params"], posted) == given


def test_a_list_has_a_line_for_each_item() -> None:
    values = {"look": {"lines": ["One", "Two"]}}
    form = form_from_input(PARAMS, values)
    assert form["look.lines"] == ["One\nTwo"]
    assert input_from_form(PARAMS, form) == values
    field = page(FormState(form)).css_first("textarea[name='look.lines']")
    assert field is not None
    assert field.text() == "One\nTwo"
    assert "One per line, up to 4." in page().html  # type: ignore[operator] # there is one


def test_a_default_that_is_only_documented_is_shown_and_not_filled_in() -> None:
    width = page().css_first("[name=width]")
    assert width is not None
    assert (width.attributes["value"], width.attributes["placeholder"]) == ("", "1200")
    assert "200 to 2400, default 1200" in page().html.replace("\n", " ")  # type: ignore[union-attr] # there is one


def test_an_error_in_code_shows_its_line() -> None:
    response = {
        "ok": False,
        "error": {"code": "validation_error", "message": "html: <i> at line 2, column 1 is not allowed"},
        "meta": meta(QR, 1),
    }
    parsed = page(FormState({"_mode": ["1"], "html": ["<b>\r\n<i onclick='<script>'>"]}, response))
    assert [node.text() for node in parsed.css(".excerpt figcaption, .excerpt mark")] == ["Line 2, column 1", "<i"]


def test_an_error_of_a_member_is_beside_its_field() -> None:
    response = {
        "ok": False,
        "error": {"code": "validation_error", "message": "look.title: too long"},
        "meta": meta(QR, 1),
    }
    title = page(FormState({"kind": ["one"]}, response)).css_first("[name='look.title']")
    assert title is not None
    assert title.attributes["aria-invalid"] == "true"


def test_a_snippet_escapes_the_name_of_the_result() -> None:
    data = {"id": "a", "url": 'https://x.example/a?b=1&c="2', "expiresAt": "", "cached": False, "width": 7}
    response = {"ok": True, "data": data, "meta": meta(QR, 1)}
    snippet = page(FormState({}, response)).css_first("#snippet-0")
    assert snippet is not None
    assert snippet.text() == '<img src="https://x.example/a?b=1&amp;c=&quot;2" width="7">'
    assert '"1200"' in page().css_first("#snippet-0").text()  # type: ignore[union-attr] # there is one


CASES = Page(
    switch="kind",
    cases=(
        FormCase("one", "First", labels={"look.title": "Headline"}),
        FormCase("two", "Second", ("look.lines", "width"), sample={"look.lines": "One"}),
    ),
    sections=(
        FormSection("How it looks", ("look.theme", "look.title"), open=True),
        FormSection("Logo", ("look.logo",)),
    ),
    files=(FileField("look.logo", ("image/png", "image/svg+xml")),),
    labels={"look.logo": "Your logo"},
    values={"look.theme": {"dark": "Night"}},
)
CASE_DESCRIPTOR = page_descriptor(DESCRIPTOR, replace(card, page=CASES))


def case_page(**form: str) -> LexborHTMLParser:
    state = FormState({name: [text] for name, text in form.items()})
    return LexborHTMLParser(PAGES.tool(CASE_DESCRIPTOR, state).decode())


def test_fields_that_belong_to_values_of_a_switch_say_so() -> None:
    parsed = case_page(kind="two")
    options = [(node.attributes["data-switch"], "checked" in node.attributes) for node in parsed.css("[data-switch]")]
    assert options == [("0", False), ("1", True)]
    fields = {node.attributes["data-cases"]: node for node in parsed.css("[data-cases]")}
    assert set(fields) == {"1"}
    assert len(parsed.css("[data-cases='1'] [name='look.lines'], [data-cases='1'] [name=width]")) == 2
    assert [node.text().strip() for node in parsed.css(".segment:has([name=kind])")] == ["Not set", "First", "Second"]
    samples = [node.attributes["data-samples"] for node in parsed.css("form.studio")]
    assert samples == ['{"0": {}, "1": {"look.lines": "One"}}']


@pytest.mark.parametrize(("kind", "label"), [("one", "Headline"), ("two", "Title")])
def test_a_field_has_the_label_for_the_value_of_the_switch(kind: str, label: str) -> None:
    title = case_page(kind=kind).css_first("[name='look.title']")
    assert title is not None
    field = case_page(kind=kind).css_first(f"label[for={title.attributes['id']}]")
    assert field is not None
    assert field.text().strip() == label


def test_only_fields_for_the_value_of_the_switch_are_sent() -> None:
    params = CASE_DESCRIPTOR["endpoints"][0]["params"]
    form = {"look.title": ["A"], "look.lines": ["One"], "width": ["300"]}
    assert input_from_form(params, form | {"kind": ["one"]}, "kind") == {"kind": "one", "look": {"title": "A"}}
    assert input_from_form(params, form | {"kind": ["two"]}, "kind") == {
        "kind": "two",
        "look": {"title": "A", "lines": ["One"]},
        "width": 300,
    }
    assert input_from_form(params, form, "kind")["width"] == 300


def test_sections_open_and_close_and_open_for_an_error() -> None:
    parsed = case_page()
    sections_open = {node.text().strip().split("\n")[0]: "open" in node.attributes for node in parsed.css("details")}
    assert sections_open == {"How it looks": True, "Logo": False}
    error = {"code": "validation_error", "message": "look.logo: must be an image"}
    state = FormState({}, {"ok": False, "error": error, "meta": meta(QR, 0)})
    wrong = LexborHTMLParser(PAGES.tool(CASE_DESCRIPTOR, state).decode())
    assert ["open" in node.attributes for node in wrong.css("details")] == [True, True]


def test_a_field_for_files_accepts_what_the_parameter_accepts() -> None:
    parsed = case_page()
    picker = parsed.css_first("input[type=file]")
    assert picker is not None
    assert picker.attributes["accept"] == "image/png,image/svg+xml"
    assert picker.attributes["name"] == "look.logo"
    names = parsed.css(f"label[for='{picker.attributes['id']}']")
    assert [node.text().strip() for node in names] == ["Your logo"]
    assert parsed.css_first("form.studio").attributes["enctype"] == "multipart/form-data"  # type: ignore[union-attr]
    assert parsed.css_first(".takes-only-files [type=text][name='look.logo']") is not None
    assert "PNG or SVG, up to" in parsed.css_first(".takes-only-files").text()  # type: ignore[union-attr]


def test_values_have_names_for_people() -> None:
    names = [node.text().strip() for node in case_page().css(".thumbnail")]
    assert names == ["light", "Night"]


def test_a_section_that_can_hide_a_required_field_is_refused() -> None:
    class Text(Params):
        title: str = Field(max_length=50, description="The title.")
        note: str = Field(default="", max_length=50, description="A note.")

    class TextParams(Params):
        text: Text = Field(description="The text.")
        kind: Literal["one", "two"] = Field(description="A kind.")

    sections = (FormSection("A", ("kind", "text.title", "text.note")),)
    problems = replace(card, params=TextParams, examples=(), page=Page(sections=sections)).problems()
    assert [problem for problem in problems if "sections" in problem] == [
        "page: sections: 'kind' must not be required",
        "page: sections: 'text.title' must not be required",
    ]


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        (Page(switch="kind"), "a switch needs 1 to 10 cases"),
        (Page(switch="look.colour", cases=CASES.cases), "switch: 'look.colour' is not a parameter"),
        (Page(switch="kind", cases=(FormCase("one", "First", ("nothing",)),)), "cases: 'nothing' is not a parameter"),
        (Page(sections=(FormSection("A", ("width",)), FormSection("B", ("width",)))), "sections: 'width' is in two"),
        (replace(PAGE, sections=(FormSection("A", ("kind", "html")),)), "'A' has parameters of several modes"),
        (Page(files=(FileField("look.logo", ("text/plain",)),)), "'look.logo' takes text/plain; known are"),
        (Page(labels={"logo": "Logo"}), "labels: 'logo' is not a parameter"),
        (Page(modes=(Mode("A", ("nothing",)),)), "'nothing', which is not a parameter"),
        (Page(modes=(Mode("A", ("kind",)), Mode("B", ("kind",)))), "one mode only"),
        (Page(modes=tuple(Mode(str(number), ()) for number in range(5))), "2 to 4 modes, or none (got 5)"),
        (Page(snippets=(Snippet("Tag", "{size}"),)), "names size; known are"),
        (Page(sample=Look()), "instance of details"),
    ],
)
def test_an_impossible_page_is_refused(changed: Page, problem: str) -> None:
    assert card.problems() == []
    assert problem in " ".join(replace(card, page=changed).problems())
    assert "needs examples" in " ".join(replace(card, examples=()).problems())
