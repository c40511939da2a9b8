"""The connector against a receiver that verifies signatures with a third-party library, and ignores duplicates."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import (
    Post,
    RemoteMedia,
    SiteGone,
    SiteInfo,
    SiteRefused,
    SiteRejected,
    SiteUnavailable,
    UnknownOutcome,
)
from pressroom_webhook.site import WebhookSite, key_of, signed
from support.webhook_receiver import Receiver

POST = Post(
    marker="pr-0123456789abcdef01234567",
    title="Kaltbrühkaffee & “friends” 🫘",
    slug="kaffee",
    html="<p>Coffee, <strong>cold</strong>.</p>",
    markdown="Coffee, **cold**.",
    excerpt="Short",
    meta_title="Cold brew",
    meta_description="About coffee",
    keyphrase="cold brew",
    canonical_url="https://example.org/original",
    language="de",
    author="Ada",
    tags=("Coffee", "R&D"),
    categories=("Guides",),
    featured=RemoteMedia("", "https://press.example.org/m/1.png"),
    featured_alt="Beans",
    options={"series": 3},
)


def site_of(receiver: Receiver, fetcher: GuardedFetcher, **credential: str) -> WebhookSite:
    info = SiteInfo("w_1", "u_1", "Test", receiver.site)
    return WebhookSite(info, {**receiver.credential, **credential}, fetcher)


def test_the_signature_follows_the_specification() -> None:
    headers = signed(
        key_of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
    )
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize(
    "secret", ["", "whsec_", "whsec_dG9vIHNob3J0", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_%%%"]
)
def test_an_invalid_secret_is_reported_without_showing_it(secret: str) -> None:
    with pytest.raises(SiteRejected) as caught:
        key_of(secret)
    assert not secret or secret not in caught.value.message or secret == "whsec_"


async def test_a_ping_shows_whether_the_secret_is_right(receiver: Receiver, fetcher: GuardedFetcher) -> None:
    good = await site_of(receiver, fetcher).check()
    wrong = await site_of(receiver, fetcher, secret=f"whsec_{'A' * 32}").check()
    assert good.ok, good.checks
    assert not good.capabilities.read_back
    assert [check.id for check in wrong.checks if check.status == "error"] == ["credential"]
    assert receiver.posts == {}


async def test_every_field_of_a_post_arrives(receiver: Receiver, fetcher: GuardedFetcher) -> None:
    site = site_of(receiver, fetcher)
    remote = await site.create(POST)
    assert (remote.id, remote.url, remote.state) == ("1", f"{receiver.site}/kaffee", "draft")
    sent = receiver.events[-1]["data"]["post"]
    expected = {name: value for name, value in asdict(POST).items() if name not in ("raw", "kept")}
    expected["tags"], expected["categories"] = list(POST.tags), list(POST.categories)
    assert sent == expected


async def test_a_post_goes_through_its_states(receiver: Receiver, fetcher: GuardedFetcher) -> None:
    site = site_of(receiver, fetcher)
    remote = await site.create(POST)
    for state in ("live", "draft", "live", "trashed", "gone"):
        moved = await site.set_state(remote.id, state)
        assert moved.state == state
        assert (await site.read(remote.id)).state == state
    assert receiver.posts == {}
    assert [event["data"]["state"] for event in receiver.events] == [
        "draft",
        "live",
        "draft",
        "live",
        "trashed",
        "gone",
    ]
    assert len({identifier for _, identifier in receiver.ids}) == 6
    with pytest.raises(SiteRefused):
        await site.set_state(remote.id, "scheduled")


async def test_a_receiver_that_returns_no_id_gets_the_marker(receiver: Receiver, fetcher: GuardedFetcher) -> None:
    receiver.names_posts = False
    site = site_of(receiver, fetcher)
    remote = await site.create(replace(POST, slug="冷萃咖啡"))
    assert remote.id == POST.marker
    assert remote.url == f"{receiver.site}/%E5%86%B7%E8%90%83%E5%92%96%E5%95%A1"
    assert (await site.update(remote.id, POST, remote.revision)).id == POST.marker


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_retry_after_a_lost_response_and_a_restart_has_the_same_id(
    receiver: Receiver, fetcher: GuardedFetcher, when: str
) -> None:
    remote = await site_of(receiver, fetcher).create(POST)
    changed = replace(POST, title="Another title")

    async def updated() -> str:
        site = site_of(receiver, fetcher)
        site.recall(remote.id, remote.url, remote.revision)
        return (await site.update(remote.id, changed, remote.revision)).revision

    receiver.fault("post.updated", when)  # type: ignore[arg-type]
    with pytest.raises(UnknownOutcome):
        await updated()
    await updated()
    assert [event["type"] for event in receiver.events] == ["post.created", "post.updated"]
    first, second = [identifier for kind, identifier in receiver.ids if kind == "post.updated"]
    assert first == second


async def test_the_same_text_sent_later_is_not_a_retry(receiver: Receiver, fetcher: GuardedFetcher) -> None:
    site = site_of(receiver, fetcher)
    post = await site.create(POST)
    for title in ("B", "A", "B", "A"):
        post = await site.update(post.id, replace(POST, title=title), post.revision)
        assert receiver.posts["1"]["title"] == title
    await site.set_state(post.id, "gone")
    second = await site.create(POST)
    assert list(receiver.posts) == ["1"]
    assert second.state == "draft"


@pytest.mark.parametrize(
    ("response", "error"),
    [
        ((200, "text/html", b"<h1>Checking your browser</h1>"), UnknownOutcome),
        ((500, "application/json", b"{}"), UnknownOutcome),
        ((401, "application/json", b'{"message":"bad signature"}'), SiteRejected),
        ((410, "text/plain", b""), SiteRejected),
        ((404, "text/html", b""), SiteRefused),
        ((302, "text/html", b""), SiteRefused),
        ((422, "application/json", b'{"error":"no slug"}'), SiteRefused),
        ((503, "text/plain", b""), SiteUnavailable),
        ((429, "text/plain", b""), SiteUnavailable),
    ],
)
async def test_results_say_what_had_no_effect(
    receiver: Receiver, fetcher: GuardedFetcher, response: tuple[int, str, bytes], error: type[Exception]
) -> None:
    receiver.response = response
    with pytest.raises(error) as caught:
        await site_of(receiver, fetcher).create(POST)
    assert "/hook" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"OK",
        b"[" * 50_000,
        b'{"id": null, "url": 5}',
        b'{"id": true, "url": "javascript:alert(1)"}',
        b'{"id": "' + b"x" * 500 + b'", "url": "http://[::1"}',
        b'{"id": "a b", "url": "/relative"}',
    ],
)
async def test_a_response_without_anything_to_store_is_a_response(
    receiver: Receiver, fetcher: GuardedFetcher, content: bytes
) -> None:
    receiver.response = (202, "text/plain", content)
    remote = await site_of(receiver, fetcher).create(POST)
    assert (remote.id, remote.url) == (POST.marker, f"{receiver.site}/kaffee")


async def test_a_post_deleted_by_the_receiver_is_reported_as_gone(receiver: Receiver, fetcher: GuardedFetcher) -> None:
    site = site_of(receiver, fetcher)
    remote = await site.create(POST)
    receiver.posts.clear()
    with pytest.raises(SiteGone):
        await site.update(remote.id, POST, remote.revision)
    with pytest.raises(SiteGone):
        await site.set_state(remote.id, "live")


async def test_a_private_ip_address_gets_no_request(receiver: Receiver) -> None:
    async with GuardedFetcher() as strict:
        with pytest.raises(SiteRefused):
            await site_of(receiver, strict).create(POST)
    assert receiver.ids == []
