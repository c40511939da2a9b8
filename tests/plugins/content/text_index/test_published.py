"""Published articles in the text index, and the Markdown twins of their pages."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest
from pressroom_content.tables import PublicationRow, WebsiteRow
from sqlalchemy import update
from support.content_client import Client

BODY = "Boil *water*.\n\nThen <b onclick=x>wait</b>.<script>x</script>\n"


@pytest.fixture
def web(ada: Client) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=ada.host.url) as client:
        yield client


@pytest.fixture
def website(ada: Client) -> str:
    ada.data("connect_website", platform="builtin", name="Tea blog")
    id_: str = ada.data("list_websites")["websites"][0]["id"]
    return id_


def published(client: Client, website: str, title: str, body: str = BODY, **fields: str) -> tuple[str, str]:
    """Publish an article; return its ID and the path of its page."""
    id_ = client.data("create_content", title=title, body=body, website_id=website, **fields)["content_id"]
    publication = client.data("publish_content", content_id=id_, website_id=website)
    assert publication["status"] == "published", publication
    return id_, urlsplit(publication["url"]).path


@pytest.mark.parametrize("title", ["All about tea", "お茶について"])
def test_the_markdown_and_text_versions_of_a_page(ada: Client, web: httpx.Client, website: str, title: str) -> None:
    id_, path = published(ada, website, title)
    assert web.get(path).status_code == 200
    markdown = web.get(f"{path}.md")
    assert markdown.headers["content-type"] == "text/markdown; charset=utf-8"
    assert markdown.text == f"# {title}\n\n{BODY}"
    text = web.get(f"{path}/llms.txt")
    assert text.headers["content-type"] == "text/plain; charset=utf-8"
    assert text.text == f"{title}\n\nBoil water.\n\nThen wait.\n"
    for url, response in ((f"{path}.md", markdown), (f"{path}/llms.txt", text)):
        second = web.get(url, headers={"if-none-match": f'W/"x", {response.headers["etag"]}'})
        assert (second.status_code, second.content) == (304, b"")
        assert web.head(url).headers["etag"] == response.headers["etag"]
    ada.data("update_content", content_id=id_, expected_version=1, fields={"body": "Newer."})
    assert web.get(f"{path}.md").text == markdown.text  # the live post is what was sent


def test_an_unpublished_page_has_no_markdown_or_text_version(ada: Client, web: httpx.Client, website: str) -> None:
    id_, path = published(ada, website, "Tea")
    [publication] = ada.data("list_publications", content_id=id_)["publications"]
    ada.data("unpublish_content", publication_id=publication["publication_id"], confirm=True)
    for url in (f"{path}.md", f"{path}/llms.txt"):
        assert web.get(url).status_code == 410
    for url in (
        "/sites/none/none.md",
        "/articles/none/none",
        "/articles/a/b/llms.txt",
    ):
        assert web.get(url).status_code == 404


def test_articles_published_elsewhere_have_a_url_here(ada: Client, web: httpx.Client, website: str) -> None:
    id_, _ = published(ada, website, "Über Tee")
    plugin = ada.plugin

    async def move() -> None:
        async with plugin.services.database.writing() as session:
            statement = update(PublicationRow).where(PublicationRow.article_id == id_)
            await session.execute(statement.values(path="", url="https://example.com/tee"))
            values = {"platform": "webhook", "url": "https://example.com", "control_place": "example.com"}
            website_change = update(WebsiteRow).where(WebsiteRow.id == website)
            await session.execute(website_change.values(control_method="file", site_key=None, **values))

    ada.host.run(move())
    path = f"/articles/{website}/uber-tee"
    response = web.get(path)
    assert (response.status_code, response.headers["location"]) == (302, "https://example.com/tee")
    assert web.get(f"{path}.md").text.startswith("# Über Tee")
    assert web.get(f"{path}/llms.txt").headers["link"] == '<https://example.com/tee>; rel="canonical"'
    assert f"({ada.host.url}{path})" in web.get("/llms.txt").text


def test_the_index_lists_pages_newest_first_and_includes_the_newest_in_full(
    ada: Client, web: httpx.Client, website: str
) -> None:
    paths = [published(ada, website, f"Tea {name}", f"Text {name}.", excerpt="About\ntea.")[1] for name in "BAC"]
    draft = ada.data("create_content", title="A secret draft", body="Secret.")
    index = web.get("/llms.txt").text
    lines = [line for line in index.splitlines() if any(f"{path})" in line for path in paths)]
    assert lines == [
        f"- [Tea {name}]({ada.host.url}{path}): About tea." for name, path in zip("CAB", reversed(paths), strict=True)
    ]
    full = web.get("/llms-full.txt").text
    assert "# Tea C\n\nText C.\n" in full
    assert full.index("Text C.") < full.index("Text A.") < full.index("Text B.")
    assert "Secret" not in index + full
    assert draft["content_id"] not in index
