"""Article and page checks through the MCP endpoint."""

from __future__ import annotations

from typing import Any

import pytest
from support.tool_client import ToolClient

from ..crawler.sites import good_site, page, plain, redirect  # noqa: TID252 - the sites of the crawler's own tests
from .conftest import connect, content_of, serving, wait_until_live

BODY = """Bees make honey. Honey bees live in hives with thousands of others of their kind.

## How do honey bees find flowers?

They dance. [Read more of dances](https://www.example.org/dances), because a dance says where the flowers are.

1. Look for a hive.
2. Wait until the sun is up.

""" + "\n\n".join(f"In month {number} they need flowers, and people plant them in gardens." for number in range(30))


PARTS = ("images", "duplicates", "links", "voice", "snippet")


def write(client: ToolClient, **fields: Any) -> dict[str, Any]:
    """Create an article with text and a keyphrase."""
    return client.data("create_content", **{"title": "Honey bees", "body": BODY, "keyphrase": "honey bees", **fields})


def test_a_stored_article_is_scored(ada: ToolClient, eve: ToolClient) -> None:
    article = write(ada)
    assert 0 < article["seo"]["score"] <= 100
    assert len(article["seo"]["top_fixes"]) == 3
    report = ada.data("check_blog_seo", content_id=article["content_id"])
    assert len(report["checks"]) == 55
    assert report["next_actions"][0]["gain"] > 0
    assert report["ruleset"].startswith("seo-en@")
    assert {check["status"] for check in report["checks"]} > {"good", "bad"}
    assert "no article" in eve.refusal("check_blog_seo", content_id=article["content_id"])
    changed = ada.data(
        "update_content",
        content_id=article["content_id"],
        expected_version=1,
        fields={"meta_description": "Honey bees find flowers by a dance that says how far they are. " * 2},
    )
    assert changed["seo"]["delta"] > 0


def test_the_gain_of_a_change_is_relative_to_the_score_shown_before(ada: ToolClient) -> None:
    website = ada.data("connect_website", platform="builtin", name="Bees and scores")["website_id"]
    article = write(ada, website_id=website, meta_description="Bees.")
    ada.data("publish_content", content_id=article["content_id"], website_id=website)
    before = ada.data("check_blog_seo", content_id=article["content_id"])["score"]
    assert ada.data("get_content", content_id=article["content_id"])["content"]["score"] == before

    changed = ada.data(
        "update_content",
        content_id=article["content_id"],
        expected_version=1,
        fields={"meta_description": "Honey bees find flowers by a dance that says how far they are. " * 2},
    )

    after = ada.data("check_blog_seo", content_id=article["content_id"])["score"]
    assert (changed["seo"]["score"], changed["seo"]["delta"]) == (after, after - before)


def test_an_article_is_compared_with_the_others_of_its_website(ada: ToolClient) -> None:
    first = write(ada)
    alone = ada.data("check_blog_seo", content_id=first["content_id"], checks=["keyphrase_unique"])["checks"][0]
    write(ada, title="More honey bees")
    other = ada.data("check_blog_seo", content_id=first["content_id"], checks=["keyphrase_unique"])["checks"][0]
    assert (alone["status"], other["status"]) == ("good", "ok")


def test_an_unsaved_article_is_scored(ada: ToolClient) -> None:
    article = {"title": "Honey bees", "body": f"<p>{BODY}</p>", "body_format": "html"}
    report = ada.data("check_blog_seo", article=article, keyphrase="honey bees", profile="news")
    assert report["words"] > 300
    only = ada.data("check_blog_seo", article={"body": "x"}, checks=["text_length"])
    assert [check["id"] for check in only["checks"]] == ["text_length"]
    assert only["gates"]


def test_what_cannot_be_scored_is_explained(ada: ToolClient) -> None:
    assert "exactly one of content_id and article" in ada.refusal("check_blog_seo")
    assert "exactly one" in ada.refusal("check_blog_seo", content_id="a_x", article={"body": "x"})
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
def test_any_text_can_be_scored(ada: ToolClient, body: str) -> None:
    for body_format in ("markdown", "html"):
        report = ada.data("check_blog_seo", article={"body": body, "title": body[:400], "body_format": body_format})
        assert 0 <= report["score"] <= 100


def included(client: ToolClient, name: str, **arguments: Any) -> dict[str, Any]:
    """Return one included part of an article check."""
    part: dict[str, Any] = client.data("check_blog_seo", **arguments, include=[name])[name]
    return part


def test_links_are_tested_on_request(ada: ToolClient) -> None:
    pages = {"/here": page("/here"), "/old": redirect("/here"), "/robots.txt": plain("User-agent: *\nDisallow: /no")}
    with serving(pages) as site:
        links = " ".join(f"[{path}]({site.url(path)})" for path in ("/here", "/old", "/gone", "/no"))
        body = f"{BODY}\n\n{links}".replace("https://www.example.org/dances", site.url("/here"))
        identifier = write(ada, body=body)["content_id"]
        untried = ada.data("check_blog_seo", content_id=identifier, checks=["broken_links"])
        assert untried["links"] is None
        assert "include" in untried["checks"][0]["message"]
        result = ada.call("check_blog_seo", content_id=identifier, include=["links"])
        report, link_report = result["structuredContent"], result["structuredContent"]["links"]
        check = next(check for check in report["checks"] if check["id"] == "broken_links")
        assert (check["status"], check["weight"]) == ("bad", 0)
        assert [site.url("/gone") in text for text in check["evidence"]] == [True]
        problems = {link["url"].removeprefix(site.origin): link["problems"] for link in link_report["links"]}
        assert problems["/gone"][0] == "broken"
        assert problems["/old"][0] == "redirected"
        assert problems["/no"] == problems["/here"] == ["insecure"]
        assert (link_report["checked"], link_report["job_id"]) == (4, None)
        assert f"broken, insecure: {site.url('/gone')} (404" in result["content"][0]["text"]
        assert included(ada, "links", article={"body": body})["links"][0]["url"] == site.url("/gone")


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("/original", "good", "responds"),
        ("/hidden", "bad", "says noindex"),
        ("/moved", "bad", "says noindex"),
        ("/by-header", "bad", "says noindex"),
        ("/gone", "bad", "1 link is broken"),
    ],
)
def test_the_canonical_url_is_tested_too(ada: ToolClient, path: str, status: str, message: str) -> None:
    pages = {
        "/original": page("/original"),
        "/hidden": page("/hidden", head='<meta name="robots" content="noindex">'),
        "/moved": redirect("/hidden"),
        "/by-header": plain("<title>a</title><p>b</p>", "text/html", **{"X-Robots-Tag": "noindex"}),
    }
    with serving(pages) as site:
        article = {"body": BODY.replace("](https://www.example.org/dances)", "]"), "canonical_url": site.url(path)}
        arguments = {"article": article, "checks": ["broken_links"]}
        assert ada.data("check_blog_seo", **arguments)["checks"][0]["status"] == "skipped"
        report = ada.data("check_blog_seo", **arguments, include=["links"])
    check = report["checks"][0]
    assert (check["status"], message in check["message"]) == (status, True), check
    wrong = [problem for link in report["links"]["links"] for problem in link["problems"]]
    assert ("noindex" in wrong) is ("noindex" in message)
    assert ("broken" in wrong) is ("broken" in message)


def test_many_links_are_checked_in_the_background(ada: ToolClient) -> None:
    with serving({"*": page("/")}) as site:
        body = " ".join(f"[x]({site.url(f'/{number}')})" for number in range(45))
        article = write(ada, body=body)
        first = included(ada, "links", content_id=article["content_id"])
        assert (first["links"], first["checked"]) == ([], 0)
        assert first["job_id"] == included(ada, "links", content_id=article["content_id"])["job_id"]
        ada.host.run(content_of(ada.host).services.jobs.cancel(first["job_id"]))
        assert "create_content" in ada.refusal("check_blog_seo", article={"body": body}, include=["links"])


def test_links_of_a_website(ada: ToolClient) -> None:
    from .test_reports import crawl, flawed_site, wait_for  # noqa: PLC0415

    with serving(flawed_site()) as site:
        website = connect(ada, site.origin)
        arguments = {"website_id": website, "section": "links", "refresh": True}
        assert "not crawled yet" in ada.refusal("get_seo_report", **arguments)
        crawl(ada, website)
        used = ada.data("get_account_usage")["usage"]["seo_reports"]["used"]
        report = ada.data("get_seo_report", **arguments)
        broken_link = next(link for link in report["links"] if link["url"] == site.url("/gone"))
        assert (broken_link["problems"][0], broken_link["found_in"]) == ("broken", [site.url("/")])
        job = wait_for(ada, report["job_id"])
        assert job["status"] == "succeeded", job
        assert job["result"]["links"][0]["problems"][0] == "broken"
        assert {link["url"] for link in job["result"]["links"]} >= {site.url("/gone"), site.url("/old")}
        assert ada.data("get_account_usage")["usage"]["seo_reports"]["used"] == used


def test_each_requested_part_is_present(ada: ToolClient) -> None:
    website = ada.data("connect_website", platform="builtin", name="Parts of hives")["website_id"]
    ada.data("set_brand_voice", website_id=website, banned_terms=["gardens"])
    article = write(ada, website_id=website)["content_id"]
    plain_report = ada.data("check_blog_seo", content_id=article)
    assert [plain_report[name] for name in PARTS] == [None] * 5

    result = ada.call("check_blog_seo", content_id=article, include=list(PARTS))
    report, text = result["structuredContent"], result["content"][0]["text"]

    assert [report[name] is None for name in PARTS] == [False] * 5
    assert report["score"] == plain_report["score"]
    assert report["images"]["issues"][0]["check_id"] == "featured_image"
    assert report["voice"]["findings"][0]["found"] == "gardens"
    assert (report["voice"]["passed"], report["voice"]["version"]) == (False, 1)
    for name in PARTS:
        assert f"{name.capitalize()}:" in text
    assert "“gardens” is a banned term" in text
    assert "has no featured image" in text
    assert "include.0" in ada.refusal("check_blog_seo", content_id=article, include=["photos"])


def test_similar_texts_of_the_account_are_listed(ada: ToolClient) -> None:
    first, second = write(ada)["content_id"], write(ada, title="Honey bees again")["content_id"]
    other = write(ada, title="Wax", body="Wax is something else.", keyphrase="wax")["content_id"]
    result = ada.call("check_blog_seo", content_id=first, include=["duplicates"])
    match = result["structuredContent"]["duplicates"]["matches"][0]
    assert (match["content_id"], match["similarity"], match["exact"]) == (second, 1, True)
    assert f"100% the same: Honey bees again ({second})" in result["content"][0]["text"]
    assert included(ada, "duplicates", content_id=other) == {"matches": []}
    assert "create_content" in ada.refusal("check_blog_seo", article={"body": BODY}, include=["duplicates"])


def test_an_unsaved_text_is_compared_with_the_voice_of_its_website(ada: ToolClient, eve: ToolClient) -> None:
    website = ada.data("connect_website", platform="builtin", name="Voices of hives")["website_id"]
    ada.data("set_brand_voice", website_id=website, banned_terms=["honey"])
    draft = {"body": "The bees make honey.", "website_id": website}
    assert not included(ada, "voice", article=draft)["passed"]
    unguided = included(ada, "voice", article={"body": "The bees make honey."})
    assert (unguided["passed"], unguided["version"]) == (True, 0)
    assert "no website" in eve.refusal("check_blog_seo", article=draft)


def test_a_live_page_is_checked(ada: ToolClient) -> None:
    pages = {**good_site(), "/old": redirect("/bees"), "/data": plain("a,b", "text/csv"), "/loop": redirect("/loop")}
    with serving(pages) as site:
        report = ada.data("check_page_seo", url=site.url("/old"), keyphrase="the bees")
        assert report["fetched"]["status"] == 200
        assert report["fetched"]["redirects"] == [site.url("/old")]
        assert report["fetched"]["bytes"] > 500
        assert report["score"] == round((report["technical"] + report["on_page"]) / 2)
        assert "title_missing" in report["passed"]
        assert {check["source"] for check in report["checks"]} == {"technical", "on_page"}
        ranks = [("critical", "warning", "notice").index(check["severity"]) for check in report["checks"]]
        assert ranks == sorted(ranks)
        data = ada.data("check_page_seo", url=site.url("/data"))
        assert (data["on_page"], data["fetched"]["status"]) == (None, 200)
        assert ada.data("check_page_seo", url=site.url("/gone"))["fetched"]["status"] == 404
        assert ada.data("check_page_seo", url=site.url("/loop"))["technical"] == 0
        down = site.url("/")
    assert ada.data("check_page_seo", url=down)["fetched"]["message"]


def test_urls_outside_the_internet_are_refused(ada: ToolClient) -> None:
    with serving({"/": redirect("http://10.0.0.1/admin")}) as site:
        for url in ("file:///etc/passwd", "https://u:p@example.org", "nonsense", "https://10.0.0.1/", "http://[::1"):
            assert ada.refusal("check_page_seo", url=url)
        assert ada.refusal("check_page_seo", url=site.url("/"))


def test_a_search_result_is_previewed(ada: ToolClient) -> None:
    article = write(ada, meta_title="Honey bees and how they find flowers all year long, in summer and in winter too")
    preview = included(ada, "snippet", content_id=article["content_id"])
    assert preview["desktop"]["title"]["truncated"]
    assert preview["desktop"]["title"]["width"] > preview["desktop"]["title"]["limit"]
    other = included(ada, "snippet", article={"body": "", "title": "Honey bees", "url": "https://example.org/bees"})
    assert other["mobile"]["title"]["text"] == "Honey bees"
    assert other["mobile"]["url"]["text"].endswith("bees")


def test_structured_data_is_built_and_validated(ada: ToolClient) -> None:
    website = ada.data("connect_website", platform="builtin", name="A hive")["website_id"]
    article = write(ada, website_id=website, author="Ada", meta_description="Of bees.")
    generated = ada.data("generate_structured_data", content_id=article["content_id"])
    assert generated["json_ld"]["headline"] == "Honey bees"
    assert generated["json_ld"]["author"] == [{"@type": "Person", "name": "Ada"}]
    assert generated["json_ld"]["url"].endswith("/honey-bees")
    assert "datePublished" in generated["missing"]
    faq = ada.data("generate_structured_data", content_id=article["content_id"], type="FAQPage")
    assert faq["json_ld"]["mainEntity"][0]["name"].endswith("flowers?")
    result = ada.call("check_page_seo", json_ld=generated["json_ld"])
    report = result["structuredContent"]
    assert report["structured_data"]["items"][0]["type"] == "BlogPosting"
    assert (report["score"], report["fetched"], report["checks"]) == (None, None, [])
    assert "Structured data: BlogPosting." in result["content"][0]["text"]
    product = {"@context": "https://schema.org", "@type": "Product"}
    broken = ada.call("check_page_seo", json_ld=product)
    error = broken["structuredContent"]["structured_data"]["errors"][0]
    assert error["message"] in broken["content"][0]["text"]
    nested: dict[str, Any] = {"@type": "Article"}
    for _ in range(40):
        nested = {"@type": "Article", "author": nested}
    assert ada.data("check_page_seo", json_ld=nested)["structured_data"]["items"]
    assert "exactly one of url and json_ld" in ada.refusal("check_page_seo")
    assert "url" in ada.refusal("check_page_seo", json_ld=product, llms_txt=True)
    with serving(good_site()) as site:
        live = ada.data("check_page_seo", url=site.url("/bees"))
        assert [item["type"] for item in live["structured_data"]["items"]] == ["WebPage"]
        missing_page = ada.data("check_page_seo", url=site.url("/gone"))
        assert missing_page["fetched"]["status"] == 404


def test_structured_data_of_a_live_post_names_real_pages_and_times(ada: ToolClient) -> None:
    website = ada.data("connect_website", platform="builtin", name="A hive")
    article = write(ada, website_id=website["website_id"])["content_id"]
    ada.data("publish_content", content_id=article, website_id=website["website_id"])

    post = ada.data("generate_structured_data", content_id=article)["json_ld"]
    trail = ada.data("generate_structured_data", content_id=article, type="BreadcrumbList")["json_ld"]

    assert post["dateModified"] >= post["datePublished"]
    pages = [(entry["name"], entry["item"]) for entry in trail["itemListElement"]]
    assert pages == [("A hive", website["connect_url"]), ("Honey bees", post["url"])]


def test_the_websites_default_author_is_the_author(ada: ToolClient) -> None:
    website = ada.data("connect_website", platform="builtin", name="A hive")["website_id"]
    article = write(ada, website_id=website)["content_id"]
    before = ada.data("generate_structured_data", content_id=article)
    ada.data("update_website_settings", website_id=website, settings={"author": "Ada Baker"})

    def message(**arguments: object) -> str:
        [check] = ada.data("check_blog_seo", checks=["author_and_dates"], **arguments)["checks"]
        return str(check["message"])

    assert "author" in before["missing"]
    result = ada.data("generate_structured_data", content_id=article)
    assert result["json_ld"]["author"] == [{"@type": "Person", "name": "Ada Baker"}]
    assert "author" not in result["missing"]
    assert message(content_id=article) == "Author and dates are given."
    assert message(article={"body": "Tea.", "website_id": website}) == "Author and dates are given."


def test_llms_txt_of_a_website_and_of_any_site(ada: ToolClient) -> None:
    with serving(good_site()) as site:
        report = ada.call("get_seo_report", website_id=connect(ada, site.origin), section="llms_txt")
        llms_txt = report["structuredContent"]["llms_txt"]
        assert site.seen.count("/robots.txt") == 1
        checks = {check["id"]: check["passed"] for check in llms_txt["checks"]}
        assert checks["llms_txt_exists"]
        assert not checks["llms_full_txt_exists"]
        assert llms_txt["entries"] == 1
        assert site.url("/wood") in llms_txt["missing"]
        assert "wrong, llms_full_txt_exists" in report["content"][0]["text"]
        assert site.url("/wood") in report["content"][0]["text"]
        other = ada.data("check_page_seo", url=site.url("/bees"), llms_txt=True)
        assert other["llms_txt"] == llms_txt
        assert ada.data("check_page_seo", url=site.url("/bees"))["llms_txt"] is None
    private = connect(ada, "http://10.0.0.1/")
    assert "not on the public internet" in ada.refusal("get_seo_report", website_id=private, section="llms_txt")


def test_a_live_article_is_compared_with_its_twin_and_looked_up_in_the_index(ada: ToolClient) -> None:
    checks = ["markdown_twin", "llms_entry"]
    website = ada.data("connect_website", platform="builtin", name="Hives and honey")["website_id"]
    article = write(ada, website_id=website)
    draft = ada.data("check_blog_seo", content_id=article["content_id"], checks=checks)["checks"]
    assert [check["status"] for check in draft] == ["skipped", "skipped"]

    ada.data("publish_content", content_id=article["content_id"], website_id=website)
    wait_until_live(ada, article["content_id"])
    live = ada.data("check_blog_seo", content_id=article["content_id"], checks=checks)["checks"]
    assert [check["status"] for check in live] == ["good", "good"]

    rewritten = " ".join(f"wax{number}" for number in range(400))
    ada.data("update_content", content_id=article["content_id"], expected_version=1, fields={"body": rewritten})
    stale = ada.data("check_blog_seo", content_id=article["content_id"], checks=checks)["checks"]
    assert [check["status"] for check in stale] == ["bad", "good"]
    assert "differs" in stale[0]["fix"]


def test_secondary_phrases_are_checked(ada: ToolClient) -> None:
    article = {"title": "Honey bees", "body": BODY, "secondary_phrases": ["hives", "gardens", "wasps"]}
    report = ada.data("check_blog_seo", article=article, checks=["secondary_phrases"])
    assert [check["status"] for check in report["checks"]] == ["good"]
    assert "2 of 3" in report["checks"][0]["message"]
