"""Parsing of authorization requests (RFC 6749, section 4.1.1; RFC 7636; RFC 8707; RFC 9207)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import parse_qsl

from pressroom.errors import InvalidRequest, InvalidScope, OAuthError, UnsupportedResponseType
from pressroom.oauth.metadata import matching
from pressroom.oauth.records import SCOPE, AuthorizationRequest, Client, EndpointUrls
from pressroom.validation.echo import quoted

_MAX_PARAMETERS: Final = 100
_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
_REPEATABLE: Final = frozenset({"resource"})


class Parameters:
    """The parameters of a request. A parameter without a value counts as absent (RFC 6749, section 3.1)."""

    def __init__(self, values: Mapping[str, Sequence[str]]) -> None:
        self._values = {
            name: non_empty for name, texts in values.items() if (non_empty := [text for text in texts if text])
        }

    @classmethod
    def parse(cls, text: str) -> Parameters:
        """Parse a query string or a form body (RFC 6749, appendix B).

        Raises:
            InvalidRequest: The text is not UTF-8, or has too many parameters.
        """
        try:
            pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MAX_PARAMETERS)
        except ValueError:
            raise InvalidRequest(
                f"the parameters are not UTF-8, or there are more than {_MAX_PARAMETERS} of them"
            ) from None
        values: dict[str, list[str]] = {}
        for name, value in pairs:
            values.setdefault(name, []).append(value)
        return cls(values)

    def one(self, name: str) -> str:
        """Return a parameter's value, or an empty string if it is absent. Raises `InvalidRequest` if it is repeated."""
        values = self._values.get(name, [""])
        if len(values) > 1:
            raise InvalidRequest(f"{name}: must be sent once (got it {len(values)} times)")
        return values[0]

    def required(self, name: str) -> str:
        """Return a parameter's value. Raises `InvalidRequest` if it is missing or repeated."""
        value = self.one(name)
        if not value:
            raise InvalidRequest(f"{name}: is missing")
        return value

    def all(self, name: str) -> Sequence[str]:
        """Return all values of a parameter that can be repeated, such as `resource` (RFC 8707, section 2)."""
        return self._values.get(name, [])

    def check_repeated(self) -> None:
        """Raise `InvalidRequest` if a parameter is repeated that must not be (RFC 6749, section 3.1)."""
        for name in self._values.keys() - _REPEATABLE:
            self.one(name)


class RedirectedError(Exception):
    """A request that can be refused with a redirect to the client, since client and redirect URI are valid.

    Anyone can register a client. Before redirecting, the caller must ensure that a person is signed in who has approved
    this client (RFC 9700, section 4.11.2).
    """

    def __init__(self, error: OAuthError, client: Client, redirect_uri: str, state: str) -> None:
        super().__init__(error.message)
        self.error = error
        self.client = client
        self.redirect_uri = redirect_uri
        self.state = state


def read_authorization_request(parameters: Parameters, client: Client, urls: EndpointUrls) -> AuthorizationRequest:
    """Parse the authorization request of a known client.

    Raises:
        InvalidRequest: The redirect URI is missing or not registered; show the error to the person only.
        RedirectedError: Anything else is wrong.
    """
    sent_uri = parameters.one("redirect_uri")
    redirect_uri = _redirect_uri(sent_uri, client)
    state = _state(parameters)
    try:
        parameters.check_repeated()
        _check_response(parameters)
        return AuthorizationRequest(
            client=client,
            redirect_uri=redirect_uri,
            redirect_uri_sent=bool(sent_uri),
            state=state,
            scope=requested_scope(parameters.one("scope")),
            resource=urls.audience(parameters.all("resource")),
            code_challenge=_code_challenge(parameters),
        )
    except OAuthError as error:
        raise RedirectedError(error, client, redirect_uri, state) from None


def requested_scope(scope: str) -> str:
    """Return the scope granted for a requested one, which can be empty. Raises `InvalidScope`."""
    unknown = set(scope.split()) - {SCOPE}
    if unknown:
        raise InvalidScope(f"scope: the only scope is {SCOPE} (got {quoted(min(unknown))})")
    return SCOPE


def _redirect_uri(sent_uri: str, client: Client) -> str:
    if sent_uri:
        if not matching(client.redirect_uris, sent_uri):
            raise InvalidRequest("the redirect URL is not registered for this app")
        return sent_uri
    if len(client.redirect_uris) > 1:
        raise InvalidRequest("redirect_uri: is missing, and this client registered several")
    return client.redirect_uris[0]


def _state(parameters: Parameters) -> str:
    values = parameters.all("state")
    return values[0] if len(values) == 1 else ""


def _check_response(parameters: Parameters) -> None:
    if parameters.required("response_type") != "code":
        raise UnsupportedResponseType("response_type: must be code")
    if parameters.one("response_mode") not in ("", "query"):
        raise InvalidRequest("response_mode: must be query")


def _code_challenge(parameters: Parameters) -> str:
    challenge = parameters.required("code_challenge")
    if parameters.one("code_challenge_method") != "S256":
        raise InvalidRequest("code_challenge_method: must be S256")
    if not _CHALLENGE.fullmatch(challenge):
        raise InvalidRequest("code_challenge: must be the base64url of a SHA-256, 43 characters without padding")
    return challenge
