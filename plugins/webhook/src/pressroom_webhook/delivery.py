"""Sending events, with what had no effect told apart from what may have had one."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

from pressroom.sdk import Fetched, Fetcher, FetchFailed, FetchRefused, FetchUnknown
from pressroom_content.contract import (
    SiteError,
    SiteGone,
    SiteRefused,
    SiteRejected,
    SiteUnavailable,
    UnknownOutcome,
    read_json_or_none,
)

from pressroom_webhook.signing import key_of, signed

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
        """What it is called in messages: its path may hold a secret."""
        return f"the receiver at {urlsplit(self.endpoint).netloc}"

    async def deliver(self, event_id: str, kind: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send an event, and return the JSON object that it was answered with, empty where there is none.

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
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            **signed(key_of(self.secret), event_id, int(now), body),
        }
        try:
            answer = await self.fetcher.request(
                "POST", self.endpoint, headers=headers, content=body, max_bytes=_MAX_BODY_BYTES, seconds=_SECONDS
            )
        except FetchRefused as error:
            raise SiteRefused(f"{self.name} cannot be used: {error.message}") from None
        except FetchFailed as error:
            raise SiteUnavailable(f"{self.name} cannot be reached: {error.message}") from None
        except FetchUnknown as error:
            raise UnknownOutcome(f"{self.name} did not say whether it took the event: {error.message}") from None
        if not _OK <= answer.status < _REDIRECT:
            raise self._error(answer)
        if answer.media_type == "text/html":
            raise UnknownOutcome(f"{self.name} answered with a web page; is there a firewall in front of it?")
        document = read_json_or_none(answer.content)
        return document if isinstance(document, dict) else {}

    def _error(self, answer: Fetched) -> SiteError:
        told = f"HTTP {answer.status}{_words(answer.content)}"
        match answer.status:
            case 401 | 403:
                return SiteRejected(
                    f"{self.name} does not accept the event ({told})",
                    hint="Check that the signing secret is the same there and here, and that the clocks are right.",
                )
            case 404 | 405:
                return SiteRefused(f"{self.name} takes no events at this address ({told}); connect it with another")
            case 410:
                return SiteGone(f"{self.name} does not have this any more ({told})")
            case 429 | 503:
                return SiteUnavailable(f"{self.name} takes no events at the moment ({told})")
        if answer.status < _REFUSED:
            return SiteRefused(f"{self.name} redirects; connect it with the address where it is now ({told})")
        if answer.status < _FAILED:
            return SiteRefused(f"{self.name} refused the event ({told})")
        return UnknownOutcome(f"{self.name} failed ({told})")


def _words(content: bytes) -> str:
    """Return what the receiver says of an error, in the places where programs say it."""
    document = read_json_or_none(content)
    if not isinstance(document, dict):
        return ""
    for words in (document.get("message"), document.get("error")):
        if isinstance(words, str) and words.strip():
            return f": {' '.join(words.split())[:_MAX_REPORTED_LENGTH]}"
    return ""
