"""The appearance of a built-in site, chosen without an AI client and without JavaScript."""

from __future__ import annotations

import httpx
import pytest
from support.people import BrowserWithoutScreen, Page
from support.written_articles import Work

WEBSITES = "/dashboard/websites"
LOOK = {
    "do": "look",
    "theme": "modern",
    "color_scheme": "dark",
    "accent_color": "#2f6f62",
    "logo": "",
    "logo_dark": "",
    "favicon": "https://example.com/icon.png",
    "menu-1-label": "About",
    "menu-1-url": "/about",
    "menu-2-label": "",
    "menu-2-url": "",
    "menu-3-label": "  Write | to us ",
    "menu-3-url": " mailto:ada@example.org",
}


@pytest.fixture
def site(work: Work) -> str:
    """Return the path of the page of a new built-in site, which tests may change."""
    work.client.data("connect_website", platform="builtin", name="Looks")
    return f"{WEBSITES}/" + next(
        str(website["id"]) for website in work.client.data("list_websites")["websites"] if website["name"] == "Looks"
    )


def save(reader: BrowserWithoutScreen, path: str, **changes: str) -> Page:
    page = reader.get(path)
    form = page.tree.css_first("section[aria-labelledby=look] form")
    assert form is not None
    hidden = {
        str(input_.attributes["name"]): input_.attributes["value"] or "" for input_ in form.css("input[type=hidden]")
    }
    return reader.post(path, hidden | LOOK | changes)


def menu_of(page: Page) -> list[tuple[str, str]]:
    """Return label and URL of the menu's rows, including empty ones."""
    rows = [[input_.attributes["value"] or "" for input_ in row.css("input")] for row in page.tree.css("#f-menu li")]
    return [(label, url) for label, url in rows]


def test_the_appearance_of_a_site_is_set_in_a_form(reader: BrowserWithoutScreen, work: Work, site: str) -> None:
    before = reader.get(site)
    assert [choice.attributes["value"] for choice in before.tree.css("[name=theme]")] == [
        "classic",
        "modern",
        "magazine",
    ]
    assert before.one(".theme:has(:checked) .theme-title") == "Classic"
    confirmation = save(reader, site)
    assert "The settings are saved." in confirmation.text
    assert confirmation.one(".theme:has(:checked) .theme-title") == "Modern"
    assert menu_of(confirmation) == [
        ("About", "/about"),
        ("Write | to us", "mailto:ada@example.org"),
        *[("", "")] * 3,
    ]
    (url,) = [link.attributes["href"] for link in confirmation.tree.css(".page-head .lead a")]
    home = httpx.get(str(url)).text
    assert '<link rel="icon" href="https://example.com/icon.png"' in home
    logo = f"{reader.url}/media/m_1/logo.png"  # as copied from the media library
    assert save(reader, site, logo=logo, logo_has_name="true").tree.css_first("[name=logo_has_name][checked]")
    assert '<img class="logo" src="/media/m_1/logo.png" alt="Looks" width="48" height="48">' in httpx.get(str(url)).text
    assert "<bdi>About</bdi>" in home
    assert "<bdi>Write | to us</bdi>" in home
    settings = work.client.data("get_website", website_id=site.rpartition("/")[2])["website"]["settings"]
    assert (settings["theme"], settings["color_scheme"], settings["accent_color"]) == ("modern", "dark", "#2f6f62")


@pytest.mark.parametrize(
    ("changes", "field", "problem"),
    [
        ({"menu-3-url": ""}, "menu-3", "The URL is missing"),
        ({"menu-3-url": "javascript:alert(1)"}, "menu-3", "The URL must be an http or https URL"),
        ({"menu-3-label": ""}, "menu-3", "The label is missing"),
        ({"accent_color": "red"}, "accent_color", "Must be a colour such as #b3402a"),
        ({"logo": "http://example.com/logo.png"}, "logo", "Must be the https URL of an image"),
    ],
)
def test_problems_are_reported_beside_their_field_and_nothing_is_lost(
    reader: BrowserWithoutScreen, site: str, changes: dict[str, str], field: str, problem: str
) -> None:
    refused = save(reader, site, **changes)
    assert refused.status == 400
    assert problem in refused.one(f"#f-{field}-error")
    assert not refused.tree.css(".notice.wrong")
    ((name, typed),) = changes.items()
    control = refused.tree.css_first(f"[name='{name}']")
    assert control is not None
    assert control.attributes["aria-invalid"] == "true"
    assert control.attributes["aria-describedby"] == f"f-{field}-error"
    assert (control.attributes["value"] or "") == typed
    assert menu_of(refused)[0] == ("About", "/about")
    assert refused.one(".theme:has(:checked) .theme-title") == "Modern"
    assert reader.get(site).one(".theme:has(:checked) .theme-title") == "Classic"


def test_two_tabs_do_not_overwrite_each_other(reader: BrowserWithoutScreen, site: str) -> None:
    first = reader.get(site)
    version = first.tree.css_first("section[aria-labelledby=look] [name=version]")
    assert version is not None
    save(reader, site)
    late = save(reader, site, theme="magazine", version=version.attributes["value"] or "")
    assert late.status in (400, 409)
    assert reader.get(site).one(".theme:has(:checked) .theme-title") == "Modern"


def test_other_platforms_look_like_their_own_documentation(reader: BrowserWithoutScreen, work: Work) -> None:
    assert not reader.get(f"{WEBSITES}/{work.other_site}").tree.css("#look")


def test_a_menu_has_one_row_for_each_allowed_link(reader: BrowserWithoutScreen, site: str) -> None:
    full = {f"menu-{n}-{part}": f"/{n}" for n in range(1, 13) for part in ("label", "url")}
    assert len(menu_of(save(reader, site, **full))) == 12
    refused = save(reader, site, **full, **{"menu-13-label": "One", "menu-13-url": "/more"})
    assert refused.status == 400
    assert "12" in refused.one("#f-menu-error")
    assert menu_of(refused)[-1] == ("One", "/more")
    # Removing an entry from the middle closes the gap.
    confirmation = save(reader, site, **full | {"menu-2-label": "", "menu-2-url": ""})
    assert [label for label, _ in menu_of(confirmation)] == ["/1", *(f"/{n}" for n in range(3, 13)), ""]
    assert not [row for row in menu_of(save(reader, site, **dict.fromkeys(full, ""))) if any(row)]


def test_languages_are_suggested_and_others_are_allowed(reader: BrowserWithoutScreen, site: str) -> None:
    page = reader.get(site)
    field = page.tree.css_first("#f-language")
    assert field is not None
    options = {
        option.attributes["value"]: option.text()
        for option in page.tree.css(f"datalist#{field.attributes['list']} option")
    }
    assert options["de"] == "German"
    assert options["ar"] == "Arabic"
    form = page.tree.css_first("form:has([name=language])")
    assert form is not None
    fields = {str(input_.attributes["name"]): input_.attributes["value"] or "" for input_ in form.css("input[name]")}
    assert reader.post(site, fields | {"do": "settings", "language": "sv-FI"}).status == 200
    assert reader.get(site).tree.css_first("#f-language[value='sv-FI']") is not None


def test_a_menu_link_is_moved_by_a_button_and_saved_with_the_form(reader: BrowserWithoutScreen, site: str) -> None:
    rows = {"menu-2-label": "Blog", "menu-2-url": "/", "menu-3-label": "", "menu-3-url": ""}
    moved_up = save(reader, site, **rows, do="move-2-up", accent_color="#123456")
    assert menu_of(moved_up) == [("Blog", "/"), ("About", "/about"), *[("", "")] * 3]
    assert "Save the appearance to keep the order" in moved_up.text
    focused = moved_up.tree.css_first("[autofocus]")
    assert focused is not None
    assert focused.attributes["value"] == "move-1-up"
    assert moved_up.tree.css_first("[name=accent_color][value='#123456']")
    assert menu_of(reader.get(site)) == [("", "")] * 3
    moved_down = save(reader, site, **rows, do="move-1-down")
    assert menu_of(moved_down)[:2] == [("Blog", "/"), ("About", "/about")]
    first = save(reader, site, **rows, do="move-1-up")
    assert menu_of(first)[:2] == [("About", "/about"), ("Blog", "/")]
    assert save(reader, site, **rows, do="move-0-up").status == 400


def test_moving_a_link_does_not_overwrite_a_newer_save(reader: BrowserWithoutScreen, site: str) -> None:
    version = reader.get(site).tree.css_first("section[aria-labelledby=look] [name=version]")
    assert version is not None
    initial = {"version": version.attributes["value"] or ""}
    save(reader, site)
    late = save(reader, site, do="move-1-down", **initial)
    version_after = late.tree.css_first("section[aria-labelledby=look] [name=version]")
    assert version_after is not None
    assert version_after.attributes["value"] == initial["version"]
