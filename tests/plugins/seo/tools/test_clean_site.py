"""The built-in site follows the SEO tools' own advice: behind TLS they find no issues on it."""

from __future__ import annotations

import io
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from PIL import Image
from pressroom.fetch import fetcher
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.needs import free_port
from support.nginx import nginx
from support.origins import Authority
from support.tool_client import ToolClient, client_of

from ..crawler.sites import text  # noqa: TID252 - the words of the crawler's own tests
from .conftest import CONFIG, wait_until_live
from .test_reports import crawl

pytestmark = pytest.mark.services

ARTICLES: Final = Path(__file__).parents[1] / "scoring" / "articles"
WRITTEN: Final = ("bicycle-chain", "ferry-timetable", "prison-hotel")
CODE: Final = """\
## In figures

```python
def minutes(steps: int) -> float:
    return 2.5 * steps
```

| Step | Minutes |
|---|---|
| First | 2.5 |
| Second | 5 |
"""


@pytest.fixture(scope="module")
def behind_tls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningHost, str]]:
    """Yield a host and its public HTTPS URL, served through nginx as documented."""
    folder, port, authority = tmp_path_factory.mktemp("clean"), free_port(), Authority()
    url = f"https://127.0.0.1:{port}"
    config = {**CONFIG, "base_url": url, "server": {"trusted_proxies": 1}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fetcher, "_public_authorities", authority.client_context)
        running = RunningHost(settings_for_test(config, folder))
        with running, nginx(folder, running.url, port=port, authority=authority):
            yield running, url


def _issues(report: dict[str, Any]) -> dict[str, Any]:
    """Return the evidence of each issue, except slow responses: the machine may be busy."""
    return {
        issue["check_id"]: issue["evidence"] or issue["sample_urls"]
        for issue in report["issues"]
        if not _is_slow(issue)
    }


def _is_slow(issue: dict[str, Any]) -> bool:
    return bool(issue["check_id"] == "slow_answer")


def _image(color: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (1200, 630), color).save(buffer, "PNG")
    return buffer.getvalue()


def _publish(ada: ToolClient, website: str, name: str, number: int) -> str:
    _, head, text = (ARTICLES / f"{name}.md").read_text().split("+++\n", 2)
    fields = tomllib.loads(head)
    # Link targets are not reachable everywhere that tests run.
    body = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    article = ada.data(
        "create_content",
        title=fields["title"],
        body=f"{body}\n{CODE}",
        keyphrase=fields["keyphrase"],
        meta_description=fields["description"],
        author="Ada Baker",
        website_id=website,
        language="en",
        tags=["advice"],
    )
    for role in ("featured", "inline"):
        link = ada.data("create_upload_url", content_type="image/png", filename=f"{role}-{number}.png")
        to = link["upload_url"].replace(ada.host.settings.public_url, ada.host.url)
        response = httpx.put(to, content=_image(f"#b9{number}02a"))
        assert response.status_code == 201, response.text
        placement = {"alt_text": "What this is about, on a table", "role": role}
        ada.data("import_image", image_ref=link["media_id"], content_id=article["content_id"], **placement)
    ada.data("publish_content", content_id=article["content_id"], website_id=website)
    wait_until_live(ada, article["content_id"])
    [post] = ada.data("list_publications", content_id=article["content_id"])["publications"]
    return str(post["url"])


def test_the_tools_find_nothing_on_a_built_in_site_behind_tls(behind_tls: tuple[RunningHost, str]) -> None:
    host, url = behind_tls
    ada = client_of(host, "ada@example.com")
    website = ada.data("connect_website", platform="builtin", name="Ada at home")["website_id"]
    urls = [_publish(ada, website, name, number) for number, name in enumerate(WRITTEN, 1)]
    assert all(post.startswith(f"{url}/sites/") for post in urls)

    report = crawl(ada, website)
    assert _issues(report) == {}
    assert report["complete"]
    assert report["score"] == 100 or any(map(_is_slow, report["issues"]))
    crawled = ada.data("get_seo_report", website_id=website, section="pages")["page_rows"]
    assert {*urls, urls[0].rpartition("/")[0]} <= {page["url"] for page in crawled}

    parts = [ada.data("get_seo_report", website_id=website, section="llms_txt")["llms_txt"]]
    parts += [ada.data("check_page_seo", url=page, llms_txt=True)["llms_txt"] for page in (f"{url}/", urls[0])]
    for part in parts:
        assert [check for check in part["checks"] if not check["passed"]] == []


THINGS: Final = (
    "amber", "beacon", "cellar", "dovecote", "easel", "fountain", "gable", "hearth", "inkwell", "jetty", "kiln", "loom",
    "mooring", "needle",
)  # fmt: skip


TRANSLATED: Final = (
    ("ru", "Откуда взялся ткацкий станок и как он работает", "stanok", "Станок ткал шёлк по картам с отверстиями."),  # noqa: RUF001
    ("ar", "من أين جاء النول وكيف يعمل في البيت", "نول", "نسج النول الحرير من بطاقات مثقوبة منذ زمن طويل."),
    ("ja", "織機はどこから来て、どのように動くのか", "織機", "織機は穴のあいたカードで絹を織った。"),
)


def _grown_blog(ada: ToolClient, website: str) -> list[str]:
    """Fill a site like a blog that has grown for some time, and return the URLs of its posts."""
    urls = []
    for number, topic in enumerate(THINGS):
        article = ada.data(
            "create_content",
            title=f"How the {topic} came into use and what it does",
            slug=topic,
            body=f"{text(topic, 90).capitalize()}.\n\n## The {topic} at work\n\n{text(f'{topic} 2', 90).capitalize()}.",
            author=("Ada Baker", "Max Miller")[number % 2],
            tags=["things", f"{topic}s", ("wood", "stone", "metal")[number % 3]],
            categories=[("Indoors", "Outdoors")[number // 2 % 2]],
        )
        publication = ada.data("publish_content", content_id=article["content_id"], website_id=website)
        urls.append(publication["url"])
        if topic == "amber":
            arguments = {
                "content_id": article["content_id"],
                "expected_version": article["version"],
                "fields": {"slug": "ambers"},
            }
            ada.data("update_content", **arguments)
            urls[-1] = ada.data("publish_content", content_id=article["content_id"], website_id=website)["url"]
        if topic == "beacon":
            ada.data("unpublish_content", publication_id=publication["publication_id"], confirm=True)
            urls.pop()
    for language, title, slug, sentence in TRANSLATED:
        article = ada.data("create_content", title=title, slug=slug, body=f"{sentence} " * 25, language=language)
        urls.append(ada.data("publish_content", content_id=article["content_id"], website_id=website)["url"])
    about = ada.data("create_content", title="About the people who write this blog", body=text("about"), slug="about")
    ada.data("publish_content", content_id=about["content_id"], website_id=website, options={"kind": "page"})
    return urls


def test_the_tools_find_nothing_on_a_blog_that_has_grown(behind_tls: tuple[RunningHost, str]) -> None:
    host, url = behind_tls
    ada = client_of(host, "ada.2@example.com")
    website = ada.data("connect_website", platform="builtin", name="Old things")["website_id"]
    settings = {"logo": f"{url}/tools/static/icon.svg", "description": "Where they come from, and what for"}
    ada.data("update_website_settings", website_id=website, settings=settings)
    urls = _grown_blog(ada, website)
    report = crawl(ada, website)
    assert _issues(report) == {}
    crawled = {row["url"] for row in ada.data("get_seo_report", website_id=website, section="pages")["page_rows"]}
    assert set(urls) <= crawled
    lists = ada.data("get_seo_report", website_id=website, section="llms_txt")["llms_txt"]
    assert [check for check in lists["checks"] if not check["passed"]] == []
