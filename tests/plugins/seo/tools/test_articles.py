"""Articles and pages, judged through the endpoint that AI clients use."""

from __future__ import annotations

import time
from typing import Any

import pytest
from support.tool_client import ToolClient

from ..crawler.sites import good_site, page, plain, redirect  # noqa: TID252 - the sites of the crawler's own tests
from .conftest import connect, content_of, serving

BODY = """Bees make honey. Honey bees live in hives with thousands of others of their kind.

## How do honey bees find flowers?

They dance. [Read more of dances](https://www.example.org/dances), because a dance says where the flowers are.

1. Look for a hive.
2. Wait until the sun is up.

""" + "\n\n".join(f"In month {number} they need flowers, and people plant them in gardens." for number in range(30))


def write(client: ToolClient, **fields: Any) -> dict[str, Any]:
    """Store an article."""
    return client.data("create_content", **{"title": "Honey bees", "body": BODY, "keyphrase": "honey bees", **fields})


def test_a_stored_article_is_scored(ada: ToolClient, eve: ToolClient) -> None:
    article = write(ada)
    assert 0 < article["seo"]["score"] <= 100
    assert len(article["seo"]["top_fixes"]) == 3
    report = ada.data("check_blog_seo", content_id=article["content_id"])
    assert len(report["checks"]) == 55
    assert report["next_actions"][0]["gain"] > 0
    assert report["ruleset"].startswith("seo-en@")
    assert {one["status"] for one in report["checks"]} > {"good", "bad"}
    assert "no article" in eve.refusal("check_blog_seo", content_id=article["content_id"])
    changed = ada.data(
        "update_content",
        content_id=article["content_id"],
        expected_version=1,
        fields={"meta_description": "Honey bees find flowers by a dance that says how far they are. " * 2},
    )
    assert changed["seo"]["delta"] > 0


def test_a_version_has_one_score_everywhere(ada: ToolClient) -> None:
    """The article has what only some tools might know: a slug made from its title, code, an author, other articles."""
    write(ada, title="Another text of bees", keyphrase="another phrase")
    fields = {
        "title": "Honey bees",
        "body": f"{BODY}\n\n```\nfly(bee, flower)\n```",
        "keyphrase": "honey bees",
        "author": "A",
    }
    unsaved = ada.data("check_blog_seo", article=fields)
    made = ada.data("create_content", **fields, client_request_id="one")

    again = ada.data("create_content", **fields, client_request_id="one")
    checked = ada.data("check_blog_seo", content_id=made["content_id"])
    listed = ada.data("list_content", query="flowers")["items"]
    shown = ada.data("get_content", content_id=made["content_id"])["content"]

    numbers = {unsaved["score"], made["seo"]["score"], again["seo"]["score"], checked["score"], shown["score"]}
    assert numbers == {one["score"] for one in listed if one["content_id"] == made["content_id"]}
    words = {unsaved["words"], made["word_count"], checked["words"], shown["word_count"]}
    assert words == {one["word_count"] for one in listed if one["content_id"] == made["content_id"]}


def test_what_a_change_brought_is_against_the_score_shown_before(ada: ToolClient) -> None:
    website = ada.data("connect_website", platform="builtin", name="Bees and scores")["website_id"]
    made = write(ada, website_id=website, meta_description="Bees.")
    ada.data("publish_content", content_id=made["content_id"], website_id=website)
    before = ada.data("check_blog_seo", content_id=made["content_id"])["score"]
    assert ada.data("get_content", content_id=made["content_id"])["content"]["score"] == before

    changed = ada.data(
        "update_content",
        content_id=made["content_id"],
        expected_version=1,
        fields={"meta_description": "Honey bees find flowers by a dance that says how far they are. " * 2},
    )

    after = ada.data("check_blog_seo", content_id=made["content_id"])["score"]
    assert (changed["seo"]["score"], changed["seo"]["delta"]) == (after, after - before)


def test_an_article_is_compared_with_the_others_of_its_website(ada: ToolClient) -> None:
    first = write(ada)
    alone = ada.data("check_blog_seo", content_id=first["content_id"], checks=["keyphrase_unique"])["checks"][0]
    write(ada, title="More honey bees")
    other = ada.data("check_blog_seo", content_id=first["content_id"], checks=["keyphrase_unique"])["checks"][0]
    assert (alone["status"], other["status"]) == ("good", "ok")


def test_an_article_that_is_not_stored_is_scored(ada: ToolClient) -> None:
    given = {"title": "Honey bees", "body": f"<p>{BODY}</p>", "body_format": "html"}
    report = ada.data("check_blog_seo", article=given, keyphrase="honey bees", profile="news")
    assert report["words"] > 300
    only = ada.data("check_blog_seo", article={"body": "x"}, checks=["text_length"])
    assert [one["id"] for one in only["checks"]] == ["text_length"]
    assert only["gates"]


def test_what_cannot_be_judged_is_explained(ada: ToolClient) -> None:
    assert "either content_id or article" in ada.refusal("check_blog_seo")
    assert "either" in ada.refusal("check_blog_seo", content_id="a_x", article={"body": "x"})
    assert "did you mean" in ada.refusal("check_blog_seo", article={"body": "x"}, checks=["text_lenght"])
    assert "content_id" in ada.refusal("check_blog_seo", content_id="a_\0")
    assert "article.bodi" in ada.refusal("check_blog_seo", article={"bodi": "x"})


@pytest.mark.parametrize(
    "body",
    [
        "",
        "\ufffe\x01\u202e",
        "[" * 5000,
        "<div>" * 20_000,
        "> " * 3000,
        "<script>alert(1)</script>",
        "*" * 20_000,
        "ب" * 5000,
    ],
)
def test_any_text_is_judged(ada: ToolClient, body: str) -> None:
    for body_format in ("markdown", "html"):
        answer = ada.data("check_blog_seo", article={"body": body, "title": body[:400], "body_format": body_format})
        assert 0 <= answer["score"] <= 100


def test_links_are_tried_where_it_is_asked_for(ada: ToolClient) -> None:
    pages = {"/here": page("/here"), "/old": redirect("/here"), "/robots.txt": plain("User-agent: *\nDisallow: /no")}
    with serving(pages) as site:
        links = " ".join(f"[{path}]({site.url(path)})" for path in ("/here", "/old", "/gone", "/no"))
        article = write(ada, body=f"{BODY}\n\n{links}".replace("https://www.example.org/dances", site.url("/here")))
        identifier = article["content_id"]
        report = ada.data("check_blog_seo", content_id=identifier, check_links=True, checks=["broken_links"])
        assert report["checks"][0]["status"] == "bad"
        assert [site.url("/gone") in one for one in report["checks"][0]["evidence"]] == [True]
        found = ada.data("check_links", content_id=identifier)
        problems = {one["url"].removeprefix(site.origin): one["problems"] for one in found["links"]}
        assert problems["/gone"][0] == "broken"
        assert problems["/old"][0] == "redirected"
        assert problems["/no"] == problems["/here"] == ["insecure"]
        assert (found["checked"], found["job_id"]) == (4, None)
        assert "must be true" in ada.refusal("check_links", content_id=identifier, external=False)


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("/original", "good", "is absolute"),
        ("/hidden", "bad", "says noindex"),
        ("/moved", "bad", "says noindex"),
        ("/by-header", "bad", "says noindex"),
        ("/gone", "bad", "is broken: 404"),
    ],
)
def test_the_canonical_address_is_tried_too(ada: ToolClient, path: str, status: str, message: str) -> None:
    pages = {
        "/original": page("/original"),
        "/hidden": page("/hidden", head='<meta name="robots" content="noindex">'),
        "/moved": redirect("/hidden"),
        "/by-header": plain("<title>a</title><p>b</p>", "text/html", **{"X-Robots-Tag": "noindex"}),
    }
    with serving(pages) as site:
        given = {"body": BODY, "canonical_url": site.url(path)}
        asked = {"article": given, "checks": ["canonical"]}
        assert ada.data("check_blog_seo", **asked)["checks"][0]["status"] == "good"
        check = ada.data("check_blog_seo", **asked, check_links=True)["checks"][0]
    assert (check["status"], message in check["message"]) == (status, True), check


def test_many_links_are_looked_at_in_the_background(ada: ToolClient) -> None:
    with serving({"*": page("/")}) as site:
        body = " ".join(f"[x]({site.url(f'/{number}')})" for number in range(45))
        article = write(ada, body=body)
        first = ada.data("check_links", content_id=article["content_id"])
        assert first["links"] == []
        assert first["job_id"] == ada.data("check_links", content_id=article["content_id"])["job_id"]
        ada.host.run(content_of(ada.host).services.jobs.cancel(first["job_id"]))


def test_links_of_a_website(ada: ToolClient) -> None:
    from .test_reports import crawl, flawed_site, wait_for  # noqa: PLC0415

    with serving(flawed_site()) as site:
        website = connect(ada, site.origin)
        assert "not crawled yet" in ada.refusal("check_links", website_id=website)
        crawl(ada, website)
        found = ada.data("check_links", website_id=website)
        assert found["links"][0]["url"] == site.url("/gone")
        assert found["links"][0]["found_in"] == [site.url("/")]
        inner = ada.data("check_links", website_id=website, external=False)
        assert {one["url"] for one in inner["links"]} == {site.url("/gone"), site.url("/old")}
        job = wait_for(ada, inner["job_id"])
        assert job["status"] == "succeeded", job
        assert job["result"]["links"][0]["problems"][0] == "broken"


def test_a_live_page_is_checked(ada: ToolClient) -> None:
    pages = {**good_site(), "/old": redirect("/bees"), "/data": plain("a,b", "text/csv"), "/loop": redirect("/loop")}
    with serving(pages) as site:
        found = ada.data("check_page_seo", url=site.url("/old"), keyphrase="the bees")
        assert found["fetched"]["status"] == 200
        assert found["fetched"]["redirects"] == [site.url("/old")]
        assert found["fetched"]["bytes"] > 500
        assert found["score"] == round((found["technical"] + found["on_page"]) / 2)
        assert "title_missing" in found["passed"]
        assert {one["source"] for one in found["checks"]} == {"technical", "on_page"}
        ranks = [("critical", "warning", "notice").index(one["severity"]) for one in found["checks"]]
        assert ranks == sorted(ranks)
        data = ada.data("check_page_seo", url=site.url("/data"))
        assert (data["on_page"], data["fetched"]["status"]) == (None, 200)
        assert ada.data("check_page_seo", url=site.url("/gone"))["fetched"]["status"] == 404
        assert ada.data("check_page_seo", url=site.url("/loop"))["technical"] == 0
        down = site.url("/")
    assert ada.data("check_page_seo", url=down)["fetched"]["message"]


@pytest.mark.parametrize("tool", ["check_page_seo", "validate_structured_data", "check_llms_txt"])
def test_addresses_that_are_not_on_the_internet_are_refused(ada: ToolClient, tool: str) -> None:
    with serving({"/": redirect("http://10.0.0.1/admin")}) as site:
        for url in ("file:///etc/passwd", "https://u:p@example.org", "nonsense", "https://10.0.0.1/", "http://[::1"):
            assert ada.refusal(tool, url=url)
        if tool != "check_llms_txt":
            assert ada.refusal(tool, url=site.url("/"))


def test_a_search_result_is_previewed(ada: ToolClient) -> None:
    article = write(ada, meta_title="Honey bees and how they find flowers all year long, in summer and in winter too")
    shown = ada.data("preview_search_snippet", content_id=article["content_id"])
    assert shown["desktop"]["title"]["truncated"]
    assert shown["desktop"]["title"]["width"] > shown["desktop"]["title"]["limit"]
    other = ada.data("preview_search_snippet", content_id=article["content_id"], title="Honey bees")
    assert other["mobile"]["title"]["text"] == "Honey bees"
    assert "content_id" in ada.refusal("preview_search_snippet")


def test_structured_data_is_built_and_validated(ada: ToolClient) -> None:
    website = ada.data("connect_website", platform="builtin", name="A hive")["website_id"]
    article = write(ada, website_id=website, author="Ada", meta_description="Of bees.")
    built = ada.data("generate_structured_data", content_id=article["content_id"])
    assert built["json_ld"]["headline"] == "Honey bees"
    assert built["json_ld"]["author"] == [{"@type": "Person", "name": "Ada"}]
    assert built["json_ld"]["url"].endswith("/honey-bees")
    assert "datePublished" in built["missing"]
    faq = ada.data("generate_structured_data", content_id=article["content_id"], type="FAQPage")
    assert faq["json_ld"]["mainEntity"][0]["name"].endswith("flowers?")
    found = ada.data("validate_structured_data", json_ld=built["json_ld"])
    assert found["items"][0]["type"] == "BlogPosting"
    broken = ada.data("validate_structured_data", json_ld={"@context": "https://schema.org", "@type": "Product"})
    assert broken["errors"]
    deep: dict[str, Any] = {"@type": "Article"}
    for _ in range(40):
        deep = {"@type": "Article", "author": deep}
    assert ada.data("validate_structured_data", json_ld=deep)["items"]
    with serving(good_site()) as site:
        live = ada.data("validate_structured_data", url=site.url("/bees"))
        assert [one["type"] for one in live["items"]] == ["WebPage"]
        assert "answers with 404" in ada.refusal("validate_structured_data", url=site.url("/gone"))


def test_llms_txt_of_a_website(ada: ToolClient) -> None:
    with serving(good_site()) as site:
        found = ada.data("check_llms_txt", website_id=connect(ada, site.origin))
        checks = {one["id"]: one["passed"] for one in found["checks"]}
        assert checks["llms_txt_exists"]
        assert not checks["llms_full_txt_exists"]
        assert found["entries"] == 1
        assert site.url("/wood") in found["missing"]
        assert "either" in ada.refusal("check_llms_txt")


def test_a_live_article_is_compared_with_its_twin_and_looked_up_in_the_index(ada: ToolClient) -> None:
    checks = ["markdown_twin", "llms_entry"]
    website = ada.data("connect_website", platform="builtin", name="Hives and honey")["website_id"]
    article = write(ada, website_id=website)
    draft = ada.data("check_blog_seo", content_id=article["content_id"], checks=checks)["checks"]
    assert [one["status"] for one in draft] == ["skipped", "skipped"]

    ada.data("publish_content", content_id=article["content_id"], website_id=website)
    live = _published(ada, article["content_id"], checks)
    assert [one["status"] for one in live] == ["good", "good"]

    rewritten = " ".join(f"wax{number}" for number in range(400))
    ada.data("update_content", content_id=article["content_id"], expected_version=1, fields={"body": rewritten})
    stale = ada.data("check_blog_seo", content_id=article["content_id"], checks=checks)["checks"]
    assert [one["status"] for one in stale] == ["bad", "good"]
    assert "differs" in stale[0]["fix"]


def _published(client: ToolClient, content_id: str, checks: list[str]) -> list[dict[str, Any]]:
    """Return the checks of an article once it is live."""
    end = time.monotonic() + 30
    while client.data("get_publication_status", content_id=content_id)["publications"][0]["status"] != "published":
        assert time.monotonic() < end
        time.sleep(0.05)
    found: list[dict[str, Any]] = client.data("check_blog_seo", content_id=content_id, checks=checks)["checks"]
    return found


def test_secondary_phrases_are_looked_for(ada: ToolClient) -> None:
    given = {"title": "Honey bees", "body": BODY, "secondary_phrases": ["hives", "gardens", "wasps"]}
    report = ada.data("check_blog_seo", article=given, checks=["secondary_phrases"])
    assert [one["status"] for one in report["checks"]] == ["good"]
    assert "2 of 3" in report["checks"][0]["message"]
