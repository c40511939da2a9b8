"""One receiver of webhooks, which is sent signed events (Standard Webhooks), and the platform that it is.

What had no effect is told apart from what may have had one.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal, cast
from urllib.parse import quote, urlsplit
from uuid import uuid4

from pressroom.sdk import Fetcher, FetchFailed, FetchRefused, FetchUnknown
from pressroom_content.contract import (
    BasicSite,
    Capabilities,
    ConnectionCheck,
    ConnectionReport,
    CredentialField,
    JsonAnswer,
    JsonApi,
    Post,
    PostState,
    RemoteChanged,
    RemotePost,
    SiteAddress,
    SiteConnector,
    SiteError,
    SiteGone,
    SiteRefused,
    SiteRejected,
    SiteUnavailable,
    UnknownOutcome,
)

FIDELITY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "task_lists": "converted: boxes are characters",
    }
)
"""What readers on Webhook do not get as it was written. The tests of fidelity write it."""


_PREFIX: Final = "whsec_"
_MIN_KEY_BYTES, _MAX_KEY_BYTES = 24, 64

_MAX_BODY_BYTES: Final = 1_048_576
_SECONDS: Final = 30.0
_OK, _REDIRECT, _REFUSED, _FAILED = 200, 300, 400, 500
_MAX_REPORTED_LENGTH: Final = 300
CAPABILITIES: Final = Capabilities(
    draft=True,
    update=True,
    unpublish=True,
    delete=True,
    tags=True,
    categories=True,
    canonical=True,
    featured_image=True,
    seo_meta=True,
    read_back=False,
    featured_caption=True,
)
_REVISION = re.compile(r"(draft|live|trashed|gone) (evt_[0-9a-f]{48})")
_MAX_ID_LENGTH: Final = 200
_MAX_URL_LENGTH: Final = 2000
_CONTROL = re.compile(r"[\x00-\x20\x7f]")


def key_of(secret: str) -> bytes:
    """Return the key in a secret `whsec_…`, of 24 to 64 bytes. Raises `SiteRejected` if it is invalid."""
    try:
        key = base64.b64decode(secret.strip().removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.strip().startswith(_PREFIX) or not _MIN_KEY_BYTES <= len(key) <= _MAX_KEY_BYTES:
        raise SiteRejected("this is not a signing secret: expected whsec_ followed by 24 to 64 bytes in base64")
    return key


def signed(key: bytes, event_id: str, timestamp: int, body: bytes) -> Mapping[str, str]:
    """Return the headers of an event that is sent at a time, in seconds since 1970. The id holds no full stop."""
    content = b".".join((event_id.encode(), str(timestamp).encode(), body))
    digest = hmac.new(key, content, hashlib.sha256).digest()
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


@dataclass(frozen=True, slots=True)
class Receiver:
    """Where events go, and the secret that they are signed with."""

    endpoint: str
    secret: str
    fetcher: Fetcher

    @property
    def name(self) -> str:
        """What it is called in messages: its path, and what is before its host, may hold a secret."""
        return f"the receiver at {urlsplit(self.endpoint).netloc.rpartition('@')[2]}"

    async def deliver(self, event_id: str, kind: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send an event, and return the JSON object that it was answered with, empty if absent.

        Raises:
            SiteUnavailable: it was not taken; later it may be.
            SiteRejected: the signature is not accepted.
            SiteGone: the receiver answers 410.
            SiteRefused: the receiver says no.
            UnknownOutcome: it was sent, and nobody knows whether it was taken.
        """
        now = time.time()
        event = {
            "type": kind,
            "timestamp": datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds"),
            "data": data,
        }
        body = json.dumps(event, ensure_ascii=False, separators=(",", ":"), default=str).encode(errors="replace")
        signature = signed(key_of(self.secret), event_id, int(now), body)
        api = JsonApi(self.name, ReceiverErrors(), signature, max_bytes=_MAX_BODY_BYTES, seconds=_SECONDS)
        media_type = {"Content-Type": "application/json"}
        answer = await api.request(self.fetcher, "POST", self.endpoint, headers=media_type, content=body)
        return answer.body if isinstance(answer.body, dict) else {}


class ReceiverErrors:
    """The errors of a receiver. It implements `ErrorPolicy`."""

    def no_answer(self, title: str, error: FetchFailed | FetchRefused | FetchUnknown) -> SiteError:
        """Return `SiteRefused`, `SiteUnavailable`, or `UnknownOutcome` where the event may have been taken."""
        if isinstance(error, FetchRefused):
            return SiteRefused(f"{title} cannot be used: {error.message}")
        if isinstance(error, FetchFailed):
            return SiteUnavailable(f"{title} cannot be reached: {error.message}")
        return UnknownOutcome(f"{title} did not say whether it took the event: {error.message}")

    def failure(self, title: str, method: str, answer: JsonAnswer) -> SiteError | None:
        """Return the error for a status above 299, and for a web page, which a firewall may have sent."""
        del method
        told = f"HTTP {answer.status}{_words(answer.body)}"
        if _OK <= answer.status < _REDIRECT:
            page = answer.media_type == "text/html"
            message = f"{title} answered with a web page; is there a firewall in front of it?"
            return UnknownOutcome(message) if page else None
        match answer.status:
            case 401 | 403:
                return SiteRejected(
                    f"{title} does not accept the event ({told})",
                    hint="Check that the signing secret is the same there and here, and that the clocks are right.",
                )
            case 404 | 405:
                return SiteRefused(f"{title} takes no events at this URL ({told}); connect it with another")
            case 410:
                return SiteGone(f"{title} no longer has this ({told})")
            case 429 | 503:
                return SiteUnavailable(
                    f"{title} does not accept events right now ({told})", retry_after=answer.retry_after
                )
        if answer.status < _REFUSED:
            return SiteRefused(f"{title} redirects; connect it with the URL where it is now ({told})")
        if answer.status < _FAILED:
            return SiteRefused(f"{title} refused the event ({told})")
        return UnknownOutcome(f"{title} failed ({told})")


def _words(document: Any) -> str:
    """Return what the receiver says of an error, in the places where programs say it."""
    if not isinstance(document, dict):
        return ""
    for words in (document.get("message"), document.get("error")):
        if isinstance(words, str) and words.strip():
            return f": {' '.join(words.split())[:_MAX_REPORTED_LENGTH]}"
    return ""


class WebhookSite(BasicSite):
    """One receiver; it implements `RecallingSite` too.

    The revision of a post names its state and the last event that was taken. Every event's id is made of the one before
    and of what it says. So a repeat has the same id, and the same post sent again later, such as after a change that
    was taken back, has another.
    """

    capabilities = CAPABILITIES
    refusals: ClassVar = {
        "import_posts": "posts cannot be read from a webhook",
        "redirects": "redirects cannot be made through a webhook",
        "schedule": "a webhook schedules nothing: the event is sent at its time",
        "upload": "a webhook takes no files",
    }

    def __init__(self, address: SiteAddress, credential: Mapping[str, str], fetcher: Fetcher) -> None:
        self._address = address
        self._receiver = Receiver(credential.get("endpoint", ""), credential.get("secret", ""), fetcher)
        self._known = RemotePost("", "", "draft", "")

    def recall(self, post_id: str, url: str, revision: str) -> None:
        """Take what was known last of a post."""
        match = _REVISION.fullmatch(revision)
        state = cast("PostState", match[1]) if match else "draft"
        self._known = RemotePost(post_id, url, state, revision)

    async def check(self) -> ConnectionReport:
        """Send a signed `ping`, which changes nothing."""
        checks: tuple[ConnectionCheck, ...]
        try:
            await self._receiver.deliver(f"evt_{uuid4().hex}", "ping", {})
        except SiteRejected as error:
            checks = (ConnectionCheck("credential", "error", error.message, error.hint or ""),)
        except (SiteGone, UnknownOutcome) as error:
            fix = "Check that the URL is right and that the program behind it runs, then try again."
            checks = (ConnectionCheck("reachable", "error", error.message, fix),)
        else:
            reachable = f"{self._receiver.name} took a signed ping"
            checks = (
                ConnectionCheck("reachable", "ok", reachable),
                ConnectionCheck("credential", "ok", "the signature is accepted"),
            )
        return ConnectionReport((*checks, self._encrypted()), CAPABILITIES)

    async def find(self, post: Post) -> RemotePost | None:
        """Return nothing: a receiver cannot be asked. It drops what it gets twice."""
        del post
        return None

    async def create(self, post: Post) -> RemotePost:
        """Send `post.created`."""
        data = {"id": None, "state": "draft", "post": _sent(post)}
        try:
            event_id, answer = await self._send("post.created", data)
        except SiteGone as error:
            raise SiteRejected(
                f"{error.message}: it no longer accepts events", hint="Connect the website again."
            ) from None
        url = _url(answer) or self._page(post)
        return self._knows(
            RemotePost(_id(answer) or post.marker, url, "draft", f"draft {event_id}", marker=post.marker)
        )

    async def read(self, post_id: str) -> RemotePost:
        """Return what was answered last, or was recalled; nothing else is known of a post."""
        if post_id == self._known.id:
            return self._known
        return RemotePost(post_id, "", "draft", "")

    async def update(self, post_id: str, post: Post, revision: str) -> RemotePost:
        """Send `post.updated`."""
        there = await self.read(post_id)
        if revision and revision != there.revision:
            raise RemoteChanged("another event was sent in the meantime")
        event_id, answer = await self._send("post.updated", {"id": post_id, "state": there.state, "post": _sent(post)})
        url = _url(answer) or self._page(post)
        return self._knows(RemotePost(post_id, url, there.state, f"{there.state} {event_id}", marker=post.marker))

    async def set_state(
        self, post_id: str, state: Literal["draft", "scheduled", "live", "trashed", "gone"], at: datetime | None = None
    ) -> RemotePost:
        """Send `post.state_changed`."""
        del at
        self.require_state(state)
        there = await self.read(post_id)
        data = {"id": post_id, "state": state}
        event_id, answer = await self._send("post.state_changed", data)
        return self._knows(replace(there, url=_url(answer) or there.url, state=state, revision=f"{state} {event_id}"))

    async def _send(self, kind: str, data: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        """Send an event, and return its id and its answer."""
        text = json.dumps([self._known.revision, kind, data], sort_keys=True, default=str)
        event_id = f"evt_{sha256(text.encode(errors='surrogatepass')).hexdigest()[:48]}"
        return event_id, await self._receiver.deliver(event_id, kind, data)

    def _knows(self, post: RemotePost) -> RemotePost:
        self._known = post
        return post

    def _page(self, post: Post) -> str:
        url = f"{self._address.url}/{quote(post.slug)}" if post.slug else self._address.url
        return url if len(url) <= _MAX_URL_LENGTH else self._address.url

    def _encrypted(self) -> ConnectionCheck:
        if self._receiver.endpoint.startswith("https://"):
            return ConnectionCheck("encrypted", "ok", "the connection is encrypted")
        fix = "Use the receiver's https URL if it has one."
        return ConnectionCheck("encrypted", "warning", "events are sent without encryption", fix)


def _sent(post: Post) -> dict[str, Any]:
    """Return a post as events have it: without what is for platforms that have bodies in a form of their own."""
    return {name: value for name, value in asdict(post).items() if name not in ("raw", "kept")}


def _id(answer: Mapping[str, Any]) -> str:
    """Return the id that a receiver gave to a post; empty where it gave none that can be kept."""
    given = answer.get("id")
    text = str(given) if isinstance(given, str | int) and not isinstance(given, bool) else ""
    return text if len(text) <= _MAX_ID_LENGTH and not _CONTROL.search(text) else ""


def _url(answer: Mapping[str, Any]) -> str:
    """Return the URL that a receiver gave to a post; empty where it gave none that can be looked at."""
    given = answer.get("url")
    if not isinstance(given, str) or len(given) > _MAX_URL_LENGTH or _CONTROL.search(given):
        return ""
    try:
        parts = urlsplit(given)
    except ValueError:
        return ""
    return given if parts.scheme in ("http", "https") and parts.hostname else ""


def open_site(address: SiteAddress, credential: Mapping[str, str], fetcher: Fetcher) -> WebhookSite:
    """Return a receiver of webhooks; nothing is sent yet."""
    return WebhookSite(address, credential, fetcher)


CONNECTOR: Final = SiteConnector(
    platform="webhook",
    title="Webhook",
    summary="Your own program that accepts signed webhooks. The URL of the website is where readers see posts.",
    open=open_site,
    capabilities=CAPABILITIES,
    fields=(
        CredentialField(
            "endpoint",
            "URL of the receiver",
            "Where events are sent, such as https://example.com/hooks/pressroom.",
            pattern=r"https?://[^\s\\#]{1,2000}",
        ),
        CredentialField(
            "secret",
            "Signing secret",
            "whsec_ followed by 24 to 64 random bytes in base64. The receiver verifies signatures with it.",
            pattern=r"whsec_[A-Za-z0-9+/]{32,86}={0,2}",
        ),
    ),
    fidelity=FIDELITY,
)
