"""Content of the rendered pages."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from pressroom.http.errors import STATUS
from pressroom.http.page_frame import PageFrame
from pressroom.interfaces.tools_api.pages import FormState, OfferedService, Pages
from pressroom.interfaces.tools_api.pages.views import ERRORS, ImageUrls
from selectolax.lexbor import LexborHTMLParser, LexborNode
from support.page_server import branding, meta
from support.tool_descriptors import ALL, CODE, FAVICON, IMAGE, QR, param

BASE = "https://pressroom.example"
IMAGES = ImageUrls(canvas="examples/0/large?v=a")
PAGES = Pages(PageFrame(branding(), BASE), images={tool["slug"]: IMAGES for tool in ALL if tool is not FAVICON})


def parsed(page: bytes) -> LexborHTMLParser:
    return LexborHTMLParser(page.decode())


def texts(page: LexborHTMLParser, selector: str) -> list[str]:
    return [" ".join(node.text().split()) for node in page.css(selector)]


def one(page: LexborHTMLParser, selector: str) -> LexborNode:
    node = page.css_first(selector)
    assert node is not None, selector
    return node


def attribute(page: LexborHTMLParser, selector: str, name: str) -> str | None:
    return one(page, selector).attributes.get(name)


def success(**data: Any) -> dict[str, Any]:
    common = {
        "id": "5f",
        "url": f"{BASE}/files/x/5f.png?signature=a",
        "expiresAt": "2026-01-01T16:00:00Z",
        "cached": False,
    }
    return {"ok": True, "data": common | data, "meta": meta(QR, 299)}


def failure(message: str, **error: Any) -> dict[str, Any]:
    return {"ok": False, "error": {"code": "validation_error", "message": message} | error, "meta": meta(QR, 299)}


def qr_with(*params: dict[str, Any]) -> dict[str, Any]:
    tool = copy.deepcopy(QR)
    tool["endpoints"][0] |= {"params": list(params), "examples": []}
    return tool


def test_the_list_links_to_every_tool_in_order() -> None:
    page = parsed(PAGES.index(ALL))
    assert [link.attributes["href"] for link in page.css(".cards a")] == [tool["pageUrl"] for tool in ALL]
    assert texts(page, ".card-foot") == ["60 requests per hour"] * 3 + ["300 requests per hour"]


def test_the_list_names_the_services_for_accounts() -> None:
    page = parsed(PAGES.index(ALL, [OfferedService("Content", "Articles & websites.")]))
    assert texts(page, ".services dt, .services dd") == ["Content", "Articles & websites."]
    assert not parsed(PAGES.index(ALL)).css("#services")


def test_an_empty_list_says_so() -> None:
    assert "No tools are enabled" in PAGES.index([]).decode()


@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool["slug"])
def test_every_parameter_is_in_the_form_and_in_the_table(tool: dict[str, Any]) -> None:
    page = parsed(PAGES.tool(tool))
    names = [each["name"] for each in tool["endpoints"][0]["params"]]
    assert texts(page, ".table th[scope=row] code")[: len(names)] == names
    controls = {node.attributes["name"] for node in page.css("form [name]")}
    assert controls == set(names) - {"response"}


@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool["slug"])
def test_every_control_has_a_label_and_its_help(tool: dict[str, Any]) -> None:
    page = parsed(PAGES.tool(tool))
    for control in page.css("form [name]:not([type=hidden]):not([type=radio])"):
        name = control.attributes["id"]
        parent = control.parent
        assert parent is not None
        assert page.css(f"label[for={name}]") or parent.tag == "label"
        described = (control.attributes["aria-describedby"] or "").split()
        assert all(page.css_first(f"#{target}") is not None for target in described)
    ids = [node.attributes["id"] for node in page.css("[id]")]
    assert len(ids) == len(set(ids))


def test_a_page_has_one_heading_and_a_link_to_skip_to_it() -> None:
    for page in map(
        parsed, (PAGES.index(ALL), PAGES.tool(QR), PAGES.site.error(404, "Not found", "there is no such tool"))
    ):
        assert len(page.css("h1")) == 1
        assert attribute(page, ".skip-link", "href") == "#main"
        assert page.css_first("main#main") is not None


@pytest.mark.parametrize(
    ("name", "selector"),
    [
        ("text", "textarea[required][maxlength]"),
        ("size", "input[type=number][min='64'][max='2048'][step='1'][value='512']"),
        ("fgColor", "input[type=text][value='#000000']"),
        ("errorCorrection", "input[type=radio][value=M][checked]"),
    ],
)
def test_input_types_suit_their_fields(name: str, selector: str) -> None:
    assert parsed(PAGES.tool(QR)).css_first(f"{selector}[name={name}]") is not None


def test_many_choices_are_a_select_and_it_starts_unset_without_a_default() -> None:
    page = parsed(PAGES.tool(IMAGE))
    assert texts(page, "select[name=template] option")[:2] == ["Not set", "og"]
    assert attribute(page, "select[name=template] option", "selected") is None
    assert page.css_first("textarea[name=props]") is not None


def test_a_field_for_fractions_accepts_fractions() -> None:
    page = parsed(
        PAGES.tool(qr_with(param("scale", "number", "", min=0, max=1), param("zoom", "number", "", default=1.5)))
    )
    assert attribute(page, "[name=scale]", "step") == "any"
    assert attribute(page, "[name=zoom]", "step") == "any"


def test_the_browser_never_truncates_a_text_that_the_api_accepts() -> None:
    families = "👨‍👩‍👧‍👦" * 8
    assert (
        int(attribute(parsed(PAGES.tool(FAVICON)), "[name=content]", "maxlength") or 0)
        >= len(families.encode("utf-16-le")) / 2
    )


def test_required_fields_come_first() -> None:
    page = parsed(PAGES.tool(FAVICON))
    assert attribute(page, ".fields [name]", "name") == "content"


def test_names_become_words() -> None:
    page = parsed(
        PAGES.tool(qr_with(*(param(name, "string", "") for name in ("fgColor", "logoUrl", "sourceHTML", "x_2"))))
    )
    assert texts(page, ".fields label") == ["Foreground colour", "Logo URL", "Source HTML", "X 2"]


def test_the_command_shows_the_first_example_until_the_form_is_used() -> None:
    assert '{"text":"https://example.com/spring"}' in texts(parsed(PAGES.tool(QR)), "#curl")[0]
    state = FormState({"text": ["hello"], "size": ["300"]})
    assert '{"text":"hello","size":300}' in texts(parsed(PAGES.tool(QR, state)), "#curl")[0]


def test_an_image_is_shown_with_its_download_and_how_long_it_lasts() -> None:
    page = parsed(
        PAGES.tool(QR, FormState({"text": ["hi"]}, success(size=512, format="png", cached=True, warnings=["Tiny."])))
    )
    assert attribute(page, "#result img", "src") == f"{BASE}/files/x/5f.png?signature=a"
    assert attribute(page, "#result img", "alt") == "QR code generator: preview"
    assert attribute(page, "#result [download]", "download") == "qr-code-generator.png"
    assert texts(page, "#facts") == ["PNG · 512 × 512 px · Link works until 16:00 UTC"]
    assert texts(page, "#result .warnings li") == ["Tiny."]
    assert texts(page, "#quota") == ["299 of 300 requests left"]


def test_a_file_other_than_an_image_is_offered_with_its_contents() -> None:
    response = success(url=f"{BASE}/files/x/5f.zip?signature=a", files=["favicon.ico", "site.webmanifest"])
    page = parsed(PAGES.tool(FAVICON, FormState({}, response)))
    assert page.css("#result img") == []
    assert texts(page, "#result .files li") == ["favicon.ico", "site.webmanifest"]


def test_details_of_other_tools_are_shown_too() -> None:
    page = parsed(PAGES.tool(QR, FormState({}, success(moduleCount=25, nested={"a": 1}))))
    assert "Module count 25" in texts(page, "#facts")[0]
    assert "Nested" not in texts(page, "#facts")[0]


def test_a_file_is_named_after_its_title() -> None:
    page = parsed(PAGES.tool(CODE, FormState({"code": ["x"], "title": ["Über Sum.ts"]}, success(format="png"))))
    assert attribute(page, "#result [download]", "download") == "über-sum.png"


def test_the_canvas_shows_what_the_form_describes() -> None:
    assert attribute(parsed(PAGES.tool(QR)), "[data-canvas]", "src") == "/tools/qr-code-generator/examples/0/large?v=a"
    filled = parsed(PAGES.tool(QR, FormState.from_query(QR, {"text": ["a&b"], "size": ["300"]})))
    assert attribute(filled, "[data-canvas]", "src") == "/tools/qr-code-generator/preview?text=a%26b&size=300"


def test_options_for_saving_a_file_are_beside_its_download() -> None:
    page = parsed(PAGES.tool(QR))
    assert page.css_first(".exports [name=format]") is not None
    assert page.css_first(".controls [name=format]") is None


def test_a_scale_is_a_choice_beside_the_download() -> None:
    page = parsed(PAGES.tool(qr_with(param("scale", "number", "", default=1, enumValues=[1, 2, 4]))))
    assert texts(page, ".exports label") == ["1×", "2×", "4×"]


def test_a_tool_that_produces_no_images_has_no_canvas() -> None:
    page = parsed(Pages(PageFrame(branding(), BASE)).tool(QR))
    assert page.css_first("[data-canvas]") is None
    assert page.css_first("form[data-preview]") is None


def test_the_request_is_shown_in_several_languages() -> None:
    page = parsed(PAGES.tool(QR, FormState({"text": ["it's"], "size": ["300"]})))
    assert texts(page, ".samples > .segments label") == ["curl", "JavaScript", "Python", "Say this to your AI"]
    python = one(page, "#python").text()
    compile(python, "sample", "exec")
    assert '"text": "it\'s",' in python
    assert "generate_qr_code" in one(parsed(PAGES.tool(QR | {"mcpName": "generate_qr_code"})), "#assistant").text()


def test_an_error_is_beside_its_field_and_keeps_the_values() -> None:
    state = FormState({"text": ["hi"], "size": ["9000"]}, failure("size: must be between 64 and 2048 (got 9000)"))
    page = parsed(PAGES.tool(QR, state))
    assert attribute(page, "[name=size]", "value") == "9000"
    assert attribute(page, "[name=size]", "aria-invalid") == "true"
    target = (attribute(page, "[name=size]", "aria-describedby") or "").split()[-1]
    assert texts(page, f"#{target}") == ["Must be between 64 and 2048 (got 9000)"]
    assert texts(page, "title") == ["Error: QR code generator · Pressroom"]
    assert "size: must be between 64 and 2048 (got 9000)" in texts(page, "#result .failure")[0]


def test_an_error_that_begins_with_a_url_or_a_file_name_keeps_its_case() -> None:
    for problem in ("https://example.org/ is not an image", "tea.png is not an image", "example.org redirects"):
        page = parsed(PAGES.tool(QR, FormState({}, failure(f"text: {problem}"))))
        assert texts(page, ".field-error:not([hidden])") == [problem]
        assert texts(parsed(PAGES.site.error(404, "Not found", problem)), ".lead") == [f"{problem}."]


def test_each_invalid_field_has_its_own_error() -> None:
    message = 'size: must be a number (got "a. b: c"). margin: must be 0 to 16 (got 99). There are more problems.'
    page = parsed(PAGES.tool(QR, FormState({}, failure(message))))
    assert [field.attributes["name"] for field in page.css("input[aria-invalid=true]")] == ["size", "margin"]
    assert texts(page, ".field-error:not([hidden])") == [
        'Must be a number (got "a. b: c")',
        "Must be 0 to 16 (got 99). There are more problems",
    ]


def test_an_error_inside_an_object_names_the_member() -> None:
    page = parsed(PAGES.tool(IMAGE, FormState({}, failure("props.titel: is unknown; did you mean title?"))))
    assert "titel: is unknown; did you mean title?" in texts(page, ".field-error")


@pytest.mark.parametrize(
    "message", ["give html or template, not both", "html and template: not both", "nope: is unknown"]
)
def test_an_error_without_a_field_is_beside_the_result(message: str) -> None:
    page = parsed(PAGES.tool(IMAGE, FormState({}, failure(message))))
    assert not any(texts(page, ".field-error"))
    names_field = message.startswith("nope:")
    assert (message if names_field else message.capitalize()) + "." in texts(page, "#result .failure")[0]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(1, "1 second"), (0.2, "1 second"), (89, "89 seconds"), (90, "2 minutes"), (754, "13 minutes")],
)
def test_a_used_up_limit_says_when_to_retry(seconds: float, words: str) -> None:
    page = parsed(PAGES.tool(QR, FormState({}, failure("the limit is used up", retryAfter=seconds))))
    assert f"Try again in {words}." in texts(page, "#result .failure")[0]


def test_every_error_of_the_table_is_one_of_the_api() -> None:
    accounts_alone = {"unauthorized", "forbidden", "quota_exceeded"}
    codes = set(STATUS) - accounts_alone
    assert {row.code for row in ERRORS} == codes
    listed = parsed(PAGES.tool(QR)).css("section[aria-labelledby=errors] th code")
    assert {node.text() for node in listed} == codes


def test_the_form_comes_before_the_notes() -> None:
    html = PAGES.tool(FAVICON).decode()
    assert html.index("<form") < html.index("Emoji are drawn with Twemoji")


def test_a_description_is_not_repeated() -> None:
    tool = copy.deepcopy(QR)
    tool["endpoints"][0]["description"] = tool["description"]
    assert texts(parsed(PAGES.tool(tool)), "main p").count(QR["description"].split("\n\n")[0]) == 1


def test_a_title_that_was_deleted_stays_deleted() -> None:
    page = parsed(PAGES.tool(CODE, FormState({"code": ["x"], "title": [""], "windowControls": ["false"]})))
    assert attribute(page, "[name=title]", "value") == ""
    assert "checked" not in one(page, "[type=checkbox][name=windowControls]").attributes
    assert "checked" in one(page, "[type=checkbox][name=lineNumbers]").attributes


def test_a_leading_line_end_is_preserved() -> None:
    page = parsed(PAGES.tool(CODE, FormState({"code": ["\n\nx"]})))
    assert one(page, "textarea[name=code]").text() == "\n\nx"


def test_search_engines_and_previews_learn_what_the_page_is() -> None:
    page = parsed(PAGES.tool(QR, FormState({"text": ["private"]})))
    url = f"{BASE}/tools/qr-code-generator"
    assert attribute(page, "link[rel=canonical]", "href") == url
    assert attribute(page, "link[rel=alternate]", "href") == "/tools/qr-code-generator/api"
    assert attribute(page, "meta[property='og:url']", "content") == url
    assert (
        attribute(page, "meta[name=description]", "content") == "Turn a link or any text into a QR code, as PNG or SVG."
    )
    linked = json.loads(one(page, "script[type='application/ld+json']").text())
    kinds = [node["@type"] for node in linked["@graph"]]
    assert kinds == [["WebApplication", "SoftwareApplication"], "WebAPI", "BreadcrumbList"]


def test_an_error_page_is_not_indexed_and_reads_as_a_sentence() -> None:
    page = parsed(PAGES.site.error(404, "Not found", "there is no such tool"))
    assert attribute(page, "meta[name=robots]", "content") == "noindex"
    assert texts(page, ".lead") == ["There is no such tool."]


def test_links_start_with_the_path_that_the_server_is_mounted_at() -> None:
    pages = Pages(PageFrame(branding(), "https://acme.example/press"))
    for page in (pages.index(ALL), pages.tool(QR), pages.site.error(404, "Not found", "gone")):
        for node in parsed(page).css("[href^='/'], [src^='/'], [action^='/']"):
            values = [node.attributes.get(name) for name in ("href", "src", "action")]
            assert all(value.startswith("/press/") for value in values if value)
    assert "curl https://acme.example/press/tools/qr-code-generator/api/generate" in pages.tool(QR).decode()


def test_a_tool_without_an_endpoint_has_a_page_without_a_form() -> None:
    page = parsed(PAGES.tool(QR | {"endpoints": [], "hasApi": False}))
    assert page.css_first("form") is None
    assert texts(page, "h1") == ["QR code generator"]


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "//evil.example", "/\\evil.example", "http://[", "x"]
)
def test_a_link_other_than_http_is_left_out(url: str) -> None:
    good, bad = (parsed(PAGES.tool(QR | {"promo": {"tagline": "Codes!", "ctaUrl": each}})) for each in ("/docs", url))
    assert "Codes!" in texts(good, "main a")
    assert "Codes!" not in texts(bad, "main a")


def test_pages_have_no_inline_scripts_or_styles() -> None:
    for page in map(parsed, (PAGES.index(ALL), PAGES.tool(QR), PAGES.tool(QR, FormState({}, success())))):
        assert page.css("style") == []
        assert [node for node in page.css("script") if "src" not in node.attributes] == page.css(
            "[type='application/ld+json']"
        )
        names = {name for node in page.css("*") for name in node.attributes}
        assert not {name for name in names if name.startswith("on") or name == "style"}


def test_the_security_policy_allows_only_images_from_the_bucket() -> None:
    pages = Pages(PageFrame(branding(logo_url="https://cdn.example/logo.svg"), BASE, ["https://bucket.example"]))
    rules = dict(rule.split(" ", 1) for rule in pages.site.content_security_policy.split("; "))
    assert rules["img-src"] == f"'self' data: blob: {BASE} https://bucket.example https://cdn.example"
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == "'self'"


@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool["slug"])
def test_a_page_with_its_files_stays_under_100_kb(tool: dict[str, Any]) -> None:
    files = sum(len(PAGES.site.asset(name).content) for name in ("pressroom.css", "pages.js", "icon.svg"))
    assert len(PAGES.tool(tool)) + files < 100_000


def test_servers_in_one_process_show_their_own_names() -> None:
    # Their templates are compiled once and shared.
    pages = [Pages(PageFrame(branding(name=name), f"https://{name.lower()}.example")) for name in ("Ada", "Bob")]
    for _ in range(2):
        ada, bob = (page.index([]).decode() for page in pages)
        assert ("Ada" in ada, "ada.example" in ada, "Bob" in ada, "bob.example" in ada) == (True, True, False, False)
        assert ("Ada" in bob, "ada.example" in bob, "Bob" in bob, "bob.example" in bob) == (False, False, True, True)
