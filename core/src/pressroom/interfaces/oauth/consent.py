"""What a person is told of a client that asks for access. Nothing a client says of itself is proven."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from pressroom.http.page_head import clip
from pressroom.oauth.records import AuthorizationRequest
from pressroom.oauth.redirection import destination, is_loopback

_MAX_NAME_LENGTH: Final = 60


@dataclass(frozen=True, slots=True)
class ConsentFacts:
    """A client as the consent page shows it.

    `destination` is where the answer goes, `kind` what that is. `publisher` is the host of a metadata document, which
    the client's name is at least bound to; `other_site` tells that the answer goes to another host than that.
    """

    name: str
    destination: str
    kind: str
    publisher: str
    other_site: bool


def consent_facts(request: AuthorizationRequest) -> ConsentFacts:
    """Return what to show of a request's client."""
    client, uri = request.client, request.redirect_uri
    publisher = urlsplit(client.id).hostname or "" if client.from_document else ""
    scheme = urlsplit(uri).scheme
    kind = "site" if scheme == "https" else "computer" if is_loopback(uri) else "app"
    return ConsentFacts(
        name=clip(client.metadata.name, _MAX_NAME_LENGTH),
        destination=destination(uri),
        kind=kind,
        publisher=publisher,
        other_site=bool(publisher) and kind == "site" and urlsplit(uri).hostname != publisher,
    )
