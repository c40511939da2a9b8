"""Sending signed events (Standard Webhooks 1.0), with what had no effect told apart from what may have had one."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

from pressroom.sdk import Fetcher, FetchFailed, FetchRefused, FetchUnknown
from pressroom_content.contract import (
    JsonAnswer,
    JsonApi,
    SiteError,
    SiteGone,
    SiteRefused,
    SiteRejected,
    SiteUnavailable,
    UnknownOutcome,
)

_PREFIX: Final = "whsec_"
_MIN_KEY_BYTES, _MAX_KEY_BYTES = 24, 64


def key_of(secret: str) -> bytes:
    """Return the key in a secret `whsec_…`, of 24 to 64 bytes. Raises `SiteRejected` if it is invalid."""
    try:
        key = base64.b64decode(secret.strip().removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.strip().startswith(_PREFIX) or not _MIN_KEY_BYTES <= len(key) <= _MAX_KEY_BYTES:
        raise SiteRejected("this is not a signing secret: it is whsec_ and the base64 of 24 to 64 bytes")
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


_MAX_BODY_BYTES: Final = 1_048_576
_SECONDS: Final = 30.0
_OK, _REDIRECT, _REFUSED, _FAILED = 200, 300, 400, 500
_MAX_REPORTED_LENGTH: Final = 300


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
                return SiteGone(f"{title} does not have this any more ({told})")
            case 429 | 503:
                return SiteUnavailable(f"{title} takes no events at the moment ({told})")
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
