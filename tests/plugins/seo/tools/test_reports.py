"""Reports on whole websites, as an AI client requests them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.tool_client import ToolClient, client_of

from ..crawler.sites import Reply, good_site, page, plain, redirect, sitemap  # noqa: TID252 - the sites of the crawler's own tests
from .conftest import connect, content_of, serving


def wait_for(client: ToolClient, job_id: str, seconds: float = 60) -> dict[str, Any]:
    """Wait until a job has finished, and return its status."""
    jobs = content_of(client.host).services.jobs

    async def over() -> None:
        # Polling through the tool would take most of the CPU time that a crawl leaves.
        async with asyncio.timeout(seconds):
            while (await jobs.status(job_id)).state in ("queued", "running"):  # noqa: ASYNC110 - it is in a database
                await asyncio.sleep(0.05)

    client.host.run(over())
    return client.data("get_job", job_id=job_id)


def crawl(client: ToolClient, website_id: str) -> dict[str, Any]:
    """Crawl a website and return the summary of its report."""
    started = client.data("get_seo_report", website_id=website_id, refresh=True)
    job = wait_for(client, started["job_id"])
    assert job["status"] == "succeeded", job
    report = client.data("get_seo_report", website_id=website_id)
    assert job["result"]["score"] == report["score"]
    return report


def flawed_site() -> dict[str, Any]:
    """Return a site with a few faults."""
    paths = ("/", "/bees", "/wood", "/clay")
    return {
        **good_site(),
        "/": page("/", *paths, "/gone", "/old", "/bare"),
        "/old": redirect("/bees"),
        "/bare": page("/bare", *paths, replace={'<meta name="viewport" content="width=device-width">': ""}),
        "/bees": page("/bees", *paths, replace={"<h1>The bees</h1>": ""}),
        "/lonely": page("/lonely", *paths),
        "/sitemap.xml": sitemap(*paths, "/lonely"),
    }


def test_a_site_is_crawled_and_its_report_is_read_by_section(ada: ToolClient) -> None:
    with serving(flawed_site()) as site:
        website = connect(ada, site.origin)
        before = ada.data("get_seo_report", website_id=website)
        assert (before["score"], before["job_id"], before["issues"]) == (None, None, [])
        assert "refresh true" in ada.call("get_seo_report", website_id=website)["content"][0]["text"]
        report = crawl(ada, website)
        assert 0 < report["score"] < 100
        assert report["pages"] == 8
        assert report["complete"]
        assert report["trend"] is None
        assert sum(report["severities"].values()) == sum(
            issue["count"] for issue in ada.data("get_seo_report", website_id=website, section="issues")["issues"]
        )
        issues = {issue["check_id"]: issue for issue in report["issues"]}
        assert "broken_internal_link" in issues or "page_not_found" in issues or report["severities"]["critical"]
        for issue in report["issues"]:
            assert issue["fix"]
            assert issue["sample_urls"]
        pages = ada.data("get_seo_report", website_id=website, section="pages")["page_rows"]
        assert {page["url"].removeprefix(site.origin): page["status"] for page in pages}["/gone"] == 404
        lonely = next(page for page in pages if page["url"].endswith("/lonely"))
        assert (lonely["inlinks"], lonely["depth"]) == (0, None)
        links = ada.data("get_seo_report", website_id=website, section="links")["links"]
        by_path = {link["url"].removeprefix(site.origin): link for link in links}
        assert "broken" in by_path["/gone"]["problems"]
        assert by_path["/gone"]["found_in"] == [site.url("/")]
        assert "redirected" in by_path["/old"]["problems"]
        assert by_path["/old"]["location"] == site.url("/bees")
        structured = ada.data("get_seo_report", website_id=website, section="structured_data")["structured_data"]
        assert structured[0]["items"][0]["types"] == ["WebPage"]
        result = ada.call("get_seo_report", website_id=website, section="orphans")
        orphans = result["structuredContent"]
        assert orphans["complete"]
        assert orphans["orphans"] == [{"url": site.url("/lonely"), "inlinks": 0, "depth": None}]
        assert f"- {site.url('/lonely')} (0 pages link to it" in result["content"][0]["text"]
        assert "import_content takes over a page that is not an article yet" in result["content"][0]["text"]
        assert orphans["content_ids"] == {}


@pytest.mark.parametrize(("platform", "expected"), [("wordpress", "takes over"), ("webhook", "only copies")])
def test_a_report_says_what_to_do_about_pages_that_are_not_articles(
    ada: ToolClient, platform: str, expected: str
) -> None:
    with serving(good_site()) as site:
        website = connect(ada, site.origin, platform)
        crawl(ada, website)
        text = ada.call("get_seo_report", website_id=website, section="pages")["content"][0]["text"]
        assert site.url("/") in text
        [line] = [line for line in text.splitlines() if "import_content" in line]
        assert line.startswith(f"import_content {expected} a page that is not an article yet")


def test_the_pages_of_a_report_name_their_articles(ada: ToolClient) -> None:
    website = ada.data("connect_website", platform="builtin", name="Named pages")["website_id"]
    article = ada.data("create_content", title="Bees in winter", body="Some words.")["content_id"]
    url = ada.data("publish_content", content_id=article, website_id=website)["url"]
    crawl(ada, website)
    result = ada.call("get_seo_report", website_id=website, section="pages")
    assert result["structuredContent"]["content_ids"] == {url: article}
    text = result["content"][0]["text"]
    assert (f"Article {article}: {url}" in text, "import_content" in text) == (True, False)


def test_times_are_in_the_time_zone_of_the_website(ada: ToolClient) -> None:
    website = ada.data("connect_website", platform="builtin", name="Bees of Tokyo")["website_id"]
    ada.data("update_website_settings", website_id=website, settings={"timezone": "Asia/Tokyo"})
    crawl(ada, website)
    crawl(ada, website)
    result = ada.call("get_seo_report", website_id=website)
    report = result["structuredContent"]
    times = [report["crawled_at"], report["trend"]["since"], *(entry["crawled_at"] for entry in report["history"])]
    assert [moment[-6:] for moment in times] == ["+09:00"] * 4
    assert f"crawled {report['crawled_at'][:16].replace('T', ' ')}+09:00" in result["content"][0]["text"]


def test_lists_are_paged_and_a_cursor_is_of_one_report(ada: ToolClient) -> None:
    with serving(flawed_site()) as site:
        website = connect(ada, site.origin)
        crawl(ada, website)
        for section, rows in (("pages", "page_rows"), ("issues", "issues"), ("links", "links")):
            unpaged = ada.data("get_seo_report", website_id=website, section=section)[rows]
            read, cursor = [], None
            while True:
                more: dict[str, str] = {"cursor": cursor} if cursor else {}
                part = ada.data("get_seo_report", website_id=website, section=section, limit=2, **more)
                read += part[rows]
                cursor = part["next_cursor"]
                if cursor is None:
                    break
            assert read == unpaged
            assert len(unpaged) > 2
        cursor = ada.data("get_seo_report", website_id=website, section="pages", limit=1)["next_cursor"]
        crawl(ada, website)
        assert "newer" in ada.refusal("get_seo_report", website_id=website, section="pages", cursor=cursor)
        assert "cursor" in ada.refusal("get_seo_report", website_id=website, section="pages", cursor="é%%")


def test_decisions_about_issues_are_respected(ada: ToolClient, eve: ToolClient) -> None:
    pages = flawed_site()
    with serving(pages) as site:
        website = connect(ada, site.origin)
        report = crawl(ada, website)
        issues = {issue["check_id"]: issue for issue in report["issues"]}
        worst = report["issues"][0]
        check = worst["check_id"]
        rows = ada.data("get_seo_report", website_id=website, section="issues", check_id=check)["issues"]
        assert len(rows) == worst["count"]
        assert rows[0]["evidence"] is not None
        refusal = eve.refusal("set_seo_issue_status", issue_id=worst["issue_id"], status="ignored")
        assert "no current report" in refusal

        ignored = ada.data("set_seo_issue_status", issue_id=worst["issue_id"], status="ignored", note="known")
        assert ignored["score"] > report["score"]
        repeated = ada.data("set_seo_issue_status", issue_id=worst["issue_id"], status="ignored", note="known")
        assert repeated == ignored
        after = ada.data("get_seo_report", website_id=website)
        assert after["score"] == ignored["score"]
        assert check not in {issue["check_id"] for issue in after["issues"]}
        row = ada.data("get_seo_report", website_id=website, section="issues", check_id=check)["issues"][0]
        assert (row["status"], row["note"]) == ("ignored", "known")
        other = next(name for name in issues if name != check)
        issue = ada.data("get_seo_report", website_id=website, section="issues", check_id=other)["issues"][0]
        ada.data("set_seo_issue_status", issue_id=issue["issue_id"], status="fixed")
        counts = {row["check_id"]: row["count"] for row in ada.data("get_seo_report", website_id=website)["issues"]}
        assert counts.get(other, 0) == issues[other]["count"] - 1

        later = crawl(ada, website)
        later_counts = {row["check_id"]: row["count"] for row in later["issues"]}
        assert check not in later_counts
        assert later_counts[other] == issues[other]["count"]
        opened = ada.data("set_seo_issue_status", issue_id=worst["issue_id"], status="open")
        assert opened["score"] == report["score"]


def test_the_trend_lists_what_changed(ada: ToolClient) -> None:
    pages = flawed_site()
    with serving(pages) as site:
        website = connect(ada, site.origin)
        first = crawl(ada, website)
        pages["/gone"] = page("/gone", "/")
        second = crawl(ada, website)
        assert second["score"] > first["score"]
        assert second["trend"]["score"] == second["score"] - first["score"]
        assert second["trend"]["fixed"]
        assert [entry["score"] for entry in second["history"]] == [second["score"], first["score"]]
        unchanged = crawl(ada, website)
        steady = {"slow_answer"}  # depends on how busy the machine is
        assert set(unchanged["trend"]["new"]) | set(unchanged["trend"]["fixed"]) <= steady
        pages["/bees"] = page("/bees", "/", replace={"<title>A long story of the bees and its making</title>": ""})
        worse = crawl(ada, website)
        assert worse["score"] < unchanged["score"]
        assert worse["trend"]["score"] == worse["score"] - unchanged["score"]
        assert "title_missing" in worse["trend"]["new"]
        assert worse["trend"]["changes"]["title_missing"] == {"before": 0, "now": 1}


def test_one_crawl_of_a_site_at_a_time_and_only_new_ones_count(ada: ToolClient) -> None:
    accounts = ada.host.host.accounts
    ada.host.run(accounts.users.set_plan(ada.user_id, "small"))
    with serving(good_site()) as site:
        website = connect(ada, site.origin)
        first = ada.data("get_seo_report", website_id=website, refresh=True)
        second = ada.data("get_seo_report", website_id=website, refresh=True)
        if second["score"] is None:
            assert second["job_id"] == first["job_id"]
        wait_for(ada, first["job_id"])
        for _ in range(5):
            ada.data("get_seo_report", website_id=website)
        assert ada.data("get_account_usage")["usage"]["seo_reports"]["used"] == 1
        report = ada.data("get_seo_report", website_id=website)
        assert report["pages"] == 3
        assert not report["complete"]
        assert "its limit" in " ".join(report["notes"])
        for _ in range(2):
            crawl(ada, website)
        assert "seo_reports" in ada.refusal("get_seo_report", website_id=website, refresh=True)
        assert ada.data("get_seo_report", website_id=website)["score"] is not None


def test_a_built_in_site_is_crawled_without_the_rest_of_the_server(ada: ToolClient) -> None:
    website = ada.data("connect_website", platform="builtin", name="Bees and wood")["website_id"]
    report = crawl(ada, website)
    pages = ada.data("get_seo_report", website_id=website, section="pages")["page_rows"]
    assert report["pages"] >= 1
    assert all("/sites/bees-and-wood" in page["url"] for page in pages)


def test_a_site_that_forbids_crawling_is_not_crawled(ada: ToolClient) -> None:
    pages: dict[str, Any] = {**good_site(), "/robots.txt": plain("User-agent: *\nDisallow: /\n")}
    with serving(pages) as site:
        website = connect(ada, site.origin)
        report = crawl(ada, website)
        assert set(site.seen) <= {"/robots.txt", "/sitemap.xml"}
        assert report["score"] <= 20
        assert report["issues"]


def test_a_site_that_is_down_is_reported_and_hostile_pages_do_no_harm(ada: ToolClient) -> None:
    hostile = Reply(
        "<title>\0nul &#0; \ud83d</title><h1>x</h1>" + "<div>" * 3000 + '<a href="/\0x">a</a>'
        '<script type="application/ld+json">{"@type": "\\u0000\\ud800"}</script>',
        headers={"Content-Type": "text/html; charset=utf-8"},
    )
    hostile.body = str(hostile.body).encode("utf-8", "surrogatepass")
    with serving({**good_site(), "/": page("/", "/evil"), "/evil": hostile}) as site:
        report = crawl(ada, connect(ada, site.origin))
        assert report["pages"] >= 2
        down = site.origin
    report = crawl(ada, connect(ada, down))
    assert (report["score"], report["crawled_at"] is None) == (0, False)
    assert report["issues"]


def test_only_websites_of_the_account_and_only_sites_of_its_own(ada: ToolClient, eve: ToolClient) -> None:
    with serving(good_site()) as site:
        website = connect(ada, site.origin)
        for section in ("summary", "orphans", "links", "llms_txt"):
            assert "no website" in eve.refusal("get_seo_report", website_id=website, section=section)
        assert "no website" in eve.refusal("get_seo_report", website_id=website, section="links", refresh=True)
    assert "URL of the platform" in ada.refusal(
        "get_seo_report", website_id=connect(ada, "https://dev.to"), refresh=True
    )
    assert "no URL" in ada.refusal("get_seo_report", website_id=connect(ada, ""), refresh=True)


def test_invalid_arguments_are_explained(ada: ToolClient) -> None:
    website = connect(ada, "https://www.example.org")
    wrong = {"website_id": website, "section": "issues"}
    assert "did you mean" in ada.refusal("get_seo_report", **wrong, check_id="title_mising")
    assert "section issues" in ada.refusal("get_seo_report", website_id=website, check_id="title_missing")
    assert "severity" in ada.refusal("get_seo_report", website_id=website, section="pages", severity="notice")
    nothing = ada.call("get_seo_report", website_id=website, section="orphans")
    assert nothing["structuredContent"]["orphans"] == []
    assert "refresh true" in nothing["content"][0]["text"]


def test_two_accounts_with_the_same_site_take_turns(ada: ToolClient, eve: ToolClient) -> None:
    with serving(good_site()) as site:
        jobs = [
            (client, client.data("get_seo_report", website_id=connect(client, site.origin), refresh=True)["job_id"])
            for client in (ada, eve)
        ]
        results = [wait_for(client, job_id)["result"]["status"] for client, job_id in jobs]
        assert results[0] == "finished"
        assert results[1] in ("finished", "waiting")
        assert site.most_at_once <= 4


def test_a_second_client_of_an_account_sees_the_same_report(ada: ToolClient) -> None:
    with serving(good_site()) as site:
        website = connect(ada, site.origin)
        crawl(ada, website)
        user = ada.host.run(ada.host.host.accounts.users.get(ada.user_id))
        other = client_of(ada.host, user.email, "phone")
        assert other.data("get_seo_report", website_id=website) == ada.data("get_seo_report", website_id=website)
