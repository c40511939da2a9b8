"""The documentation site builds in strict mode, is complete, and loads nothing from elsewhere."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from selectolax.lexbor import LexborHTMLParser
from support.doc_examples import DOCS, ROOT

PARTS = {"tutorial", "how-to", "reference", "explanation"}


def navigation(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        for value in entry.values():
            if isinstance(value, str):
                yield value
            else:
                yield from navigation(value)


def test_every_page_is_in_the_navigation_once() -> None:
    config = tomllib.loads((DOCS / "zensical.toml").read_text())
    pages = [str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md") if "site" not in page.relative_to(DOCS).parts]
    assert sorted(navigation(config["project"]["nav"])) == sorted(pages)


def test_the_site_has_its_four_sections(site: Path) -> None:
    assert {folder.name for folder in site.iterdir() if folder.is_dir()} >= PARTS


def test_every_link_and_image_exists(site: Path) -> None:
    broken = []
    for page in site.rglob("*.html"):
        if page.name == "404.html":
            continue
        for link in targets(page):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file() or (parts.fragment and not has_anchor(target, unquote(parts.fragment))):
                broken.append(f"{page.relative_to(site)}: {link}")
    assert broken == []


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    foreign = []
    for page in site.rglob("*.html"):
        for node in LexborHTMLParser(page.read_text()).css(
            "link[href], script[src], img[src], iframe[src], source[src]"
        ):
            url = node.attributes.get("src") or node.attributes.get("href") or ""
            if urlsplit(url).netloc and node.attributes.get("rel") != "canonical":
                foreign.append(f"{page.relative_to(site)}: {url}")
    style = (site / "stylesheets/pressroom.css").read_text()
    assert foreign == []
    assert "http" not in style
    assert "@import" not in style


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"])
def test_links_in_top_level_pages_point_to_files(name: str) -> None:
    text = (ROOT / name).read_text()
    missing = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if not (ROOT / link).is_file()]
    assert missing == []


def test_no_page_mentions_a_package_registry_or_a_local_folder() -> None:
    pattern = re.compile(r"py[p]i\.|python[h]osted|np[m]js|ana[c]onda\.|crates\.[i]o|/w[o]rk/|/r[o]ot/|/h[o]me/\w")
    pages = [page for page in [*DOCS.rglob("*.md"), *ROOT.glob("*.md")] if "site" not in page.parts]
    assert [page.name for page in pages if pattern.search(page.read_text())] == []


def targets(page: Path) -> Iterator[str]:
    for node in LexborHTMLParser(page.read_text()).css("a[href], img[src]"):
        url = node.attributes.get("href") or node.attributes.get("src")
        if url:
            yield url


def has_anchor(page: Path, name: str) -> bool:
    return page.suffix != ".html" or name in anchors(page)


@cache
def anchors(page: Path) -> frozenset[str | None]:
    nodes = LexborHTMLParser(page.read_text()).css("[id], [name]")
    return frozenset(node.attributes.get(kind) for node in nodes for kind in ("id", "name"))
