"""How people choose the look of a built-in site, without an AI client and without JavaScript."""

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
    "menu": "About | /about\n\n  Write | to us | mailto:ada@example.org  ",
}


@pytest.fixture
def site(work: Work) -> str:
    """Return the page of a new built-in site, which tests may change."""
    work.client.data("connect_website", platform="builtin", name="Looks")
    return f"{WEBSITES}/" + next(
        str(one["id"]) for one in work.client.data("list_websites")["websites"] if one["name"] == "Looks"
    )


def save(reader: BrowserWithoutScreen, path: str, **changes: str) -> Page:
    page = reader.get(path)
    form = page.tree.css_first("section[aria-labelledby=look] form")
    assert form is not None
    hidden = {str(one.attributes["name"]): one.attributes["value"] or "" for one in form.css("input[type=hidden]")}
    return reader.post(path, hidden | LOOK | changes)


def test_a_site_gets_its_look_from_a_form(reader: BrowserWithoutScreen, work: Work, site: str) -> None:
    before = reader.get(site)
    assert [one.attributes["value"] for one in before.tree.css("[name=theme]")] == ["classic", "modern", "magazine"]
    assert before.one(".theme:has(:checked) .theme-title") == "Classic"
    done = save(reader, site)
    assert "The settings are saved." in done.text
    assert done.one(".theme:has(:checked) .theme-title") == "Modern"
    assert done.tree.css_first("#f-menu").text().strip().splitlines() == [  # type: ignore[union-attr]
        "About | /about",
        "Write | to us | mailto:ada@example.org",
    ]
    (url,) = [one.attributes["href"] for one in done.tree.css(".page-head .lead a")]
    home = httpx.get(str(url)).text
    assert '<link rel="icon" href="https://example.com/icon.png"' in home
    own = f"{reader.url}/media/m_1/logo.png"  # as it is copied from the media library
    assert save(reader, site, logo=own, logo_has_name="true").tree.css_first("[name=logo_has_name][checked]")
    assert '<img class="logo" src="/media/m_1/logo.png" alt="Looks" width="48" height="48">' in httpx.get(str(url)).text
    assert "<bdi>About</bdi>" in home
    assert "<bdi>Write | to us</bdi>" in home
    settings = work.client.data("get_website", website_id=site.rpartition("/")[2])["website"]["settings"]
    assert (settings["theme"], settings["color_scheme"], settings["accent_color"]) == ("modern", "dark", "#2f6f62")


@pytest.mark.parametrize(
    ("changes", "field", "problem"),
    [
        ({"menu": "About | /about\nImprint"}, "menu", "line 2 must be a label, | and a URL, such as: About | /about"),
        ({"menu": "About | /about\nX | javascript:alert(1)"}, "menu", "Link 2: the URL must be an http or https URL"),
        ({"accent_color": "red"}, "accent_color", "must be a colour such as #b3402a"),
        ({"logo": "http://example.com/logo.png"}, "logo", "must be the https URL of an image"),
    ],
)
def test_what_is_wrong_is_told_beside_its_field_and_nothing_is_lost(
    reader: BrowserWithoutScreen, site: str, changes: dict[str, str], field: str, problem: str
) -> None:
    refused = save(reader, site, **changes)
    assert refused.status == 400
    assert problem in refused.one(f"#f-{field}-error")
    assert not refused.tree.css(".notice.wrong")
    control = refused.tree.css_first(f"#f-{field}")
    assert control is not None
    assert control.attributes["aria-invalid"] == "true"
    assert (control.attributes.get("value") or control.text().lstrip("\n")) == changes[field]
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


def test_other_platforms_look_as_they_are_told_at_home(reader: BrowserWithoutScreen, work: Work) -> None:
    assert not reader.get(f"{WEBSITES}/{work.other_site}").tree.css("#look")
