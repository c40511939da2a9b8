"""Sites in trouble: failures without effect are distinguished from those that may have had one."""

from __future__ import annotations

import json
from urllib.parse import parse_qs

import pytest
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import SiteError, SiteInfo, SiteUnavailable, UnknownOutcome, api
from pressroom_wordpress import client
from pressroom_wordpress.site import WordPressSite
from support.origins import Visit, origin
from support.troubled_sites import ODD_RESPONSES, TROUBLES, Reply, Trouble, troubled

from .test_site import a_post

PASSWORD = "abcd efgh ijkl mnop"


def site_at(url: str, fetcher: GuardedFetcher) -> WordPressSite:
    credential = {"username": "ada", "application_password": PASSWORD}
    return WordPressSite(SiteInfo("w_1", "u_1", "Test", url), credential, fetcher)


def up_to_the_posts(method: str, path: str) -> Reply | None:
    """Let requests succeed until the first one for posts."""
    if path.partition("?")[0] == "/wp-json/":
        return Reply(json.dumps({"name": "Blog", "namespaces": ["wp/v2"]}).encode())
    return Reply() if method == "OPTIONS" else None


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: trouble.id)
async def test_kinds_of_trouble_are_distinguished(
    fetcher: GuardedFetcher, trouble: Trouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "_SECONDS", trouble.seconds)
    monkeypatch.setattr(client, "_SECONDS", trouble.seconds)
    with troubled(trouble.reply) as url, pytest.raises(SiteError) as check_error:
        await site_at(url, fetcher).check()
    assert "127.0.0.1" in check_error.value.message
    if trouble.reply is None:
        return
    with troubled(trouble.reply, up_to_the_posts) as url:
        site = site_at(url, fetcher)
        with pytest.raises(trouble.read) as read:
            await site.read("1")
        with pytest.raises(trouble.write) as written:
            await site.create(a_post())
    for error in (read.value, written.value):
        assert "WordPress at 127.0.0.1" in error.message
        assert PASSWORD not in error.message


@pytest.mark.parametrize("reply", ODD_RESPONSES, ids=lambda reply: reply.content.decode())
async def test_an_odd_response_is_refused(fetcher: GuardedFetcher, reply: Reply) -> None:
    with troubled(reply, up_to_the_posts) as url:
        site = site_at(url, fetcher)
        with pytest.raises(SiteUnavailable):
            await site.read("1")
        with pytest.raises(UnknownOutcome):
            await site.create(a_post())
        if reply.content != b"[]":
            with pytest.raises(SiteUnavailable):
                await site.find(a_post())
            with pytest.raises(SiteUnavailable):
                await site.ensure_terms(a_post(tags=("Coffee",)))


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("12", 12),
        (" 7 ", 7),
        ("999999999999", 86_400),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
        ("soon", None),
        ("-5", None),
    ],
)
async def test_a_site_may_say_when_to_retry(fetcher: GuardedFetcher, value: str, seconds: int | None) -> None:
    async def reply(visit: Visit) -> None:
        await visit.respond(b"{}", f"Retry-After: {value}", status="429 Too Many Requests")

    async with origin(reply) as busy:
        site = api.SiteApi(fetcher, "A site", f"http://127.0.0.1:{busy.port}", {})
        with pytest.raises(SiteUnavailable) as error:
            await site.get("/posts")
    assert error.value.retry_after == seconds


@pytest.mark.parametrize(
    ("status", "headers", "words"),
    [
        (200, {}, "a firewall, bot protection"),
        (403, {"Server": "cloudflare"}, "a firewall of Cloudflare"),
        (503, {"X-Sucuri-ID": "12"}, "a firewall of Sucuri"),
    ],
)
async def test_a_page_of_a_firewall_is_recognised(
    fetcher: GuardedFetcher, status: int, headers: dict[str, str], words: str
) -> None:
    page = Reply(b"<h1>Just a moment</h1>", status, "text/html; charset=utf-8", {"Retry-After": "9", **headers})
    with troubled(page, up_to_the_posts) as url:
        site = site_at(url, fetcher)
        for call in (site.read("1"), site.create(a_post())):
            with pytest.raises(SiteError, match=rf"web page instead of its API \(HTTP {status}\).*{words}") as error:
                await call
            if isinstance(error.value, SiteUnavailable) and status != 200:
                assert error.value.retry_after == 9


async def test_an_error_inside_the_site_is_recognised(fetcher: GuardedFetcher) -> None:
    reply = Reply(b'{"code":"internal_server_error","message":"<p>There has been a critical error.</p>"}', 500)
    words = r"failed with an internal error \(HTTP 500: There has been a critical error\.\)"
    with troubled(reply, up_to_the_posts) as url, pytest.raises(UnknownOutcome, match=words):
        await site_at(url, fetcher).create(a_post())


async def test_sites_of_wordpress_com_and_of_a_network_are_recognised(fetcher: GuardedFetcher) -> None:
    known = {
        "/wp-json/": b'{"name":"Blog","namespaces":["wp/v2"]}',
        "/wp-json/wp/v2/users/me": b'{"id":1,"capabilities":{"manage_options":true}}',
        "/wp-json/wp/v2/settings": b'{"title":"Blog","language":"de_DE"}',
    }

    def healthy(method: str, path: str) -> Reply | None:
        del method
        return Reply(known.get(path.partition("?")[0], b"{}"), headers={"Host-Header": "WordPress.com"})

    with troubled(Reply(), healthy) as url:
        report = await site_at(url, fetcher).check()
    messages = {check.id: check.message for check in report.checks}
    assert "WordPress.com" in messages["platform"]
    assert "multisite network" in messages["network"]
    assert report.language == "de-DE"


@pytest.mark.parametrize("status", [429, 503])
async def test_a_site_in_maintenance_says_for_how_long(fetcher: GuardedFetcher, status: int) -> None:
    with troubled(Reply(status=status, headers={"Retry-After": "12"})) as url:
        for call in (site_at(url, fetcher).read("1"), site_at(url, fetcher).create(a_post())):
            with pytest.raises(SiteUnavailable) as error:
                await call
            assert error.value.retry_after == 12


async def test_a_site_that_fails_completely_is_tried_again_later(fetcher: GuardedFetcher) -> None:
    with troubled(Reply(status=500)) as url:
        for call in (site_at(url, fetcher).read("1"), site_at(url, fetcher).create(a_post())):
            with pytest.raises(SiteUnavailable):
                await call


@pytest.mark.parametrize("count", [0, 99, 100, 200, 230])
@pytest.mark.parametrize("counted", [True, False], ids=["counted", "a proxy drops the count"])
async def test_every_page_of_a_list_is_read(fetcher: GuardedFetcher, *, count: int, counted: bool) -> None:
    tags = [{"id": number, "name": f"Tag {number}", "slug": f"tag-{number}"} for number in range(count)]
    posts = [{"id": number, "status": "publish", "type": "post"} for number in range(count)]

    def healthy(method: str, path: str) -> Reply | None:
        route, _, query = path.partition("?")
        everything = tags if route.endswith("/tags") else posts if route.endswith("/posts") else []
        if "/wp/v2/" not in route:
            return up_to_the_posts(method, path)
        parameters = parse_qs(query)
        page, size = int(parameters["page"][0]), int(parameters["per_page"][0])
        pages = -(-count // size)
        if page > max(pages, 1):
            return Reply(b'{"code":"rest_post_invalid_page_number","message":"no such page"}', status=400)
        headers = {"X-WP-TotalPages": str(pages)} if counted else {}
        return Reply(json.dumps(everything[(page - 1) * size : page * size]).encode(), headers=headers)

    with troubled(Reply(status=500), healthy) as url:
        site = site_at(url, fetcher)
        terms = await site.terms("tag", "", 1000)
        listed = [post async for post in site.posts(None, 1000)]
    ids = [str(number) for number in range(count)]
    assert ([term.id for term in terms], [post.id for post in listed]) == (ids, ids)
