"""Authentication: which methods need a credential, and the response to a missing or invalid one."""

from collections.abc import Callable
from typing import Any

import httpx
import orjson
import pytest
from pressroom.errors import BackendError
from pressroom.pipeline.stages.checks import Authenticate
from pressroom.sdk import Authenticator, Credentials, Identity
from pressroom.testing import RunningHost
from support import third_party
from support.mcp_peer import Peer, account, error, exchange, head

Start = Callable[..., RunningHost]

INITIALIZE = ("initialize", {"protocolVersion": "2025-06-18"})
CALL = ("tools/call", {"name": "count_words", "arguments": {"text": "a"}})


def message(method: str, params: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, **({} if params is None else {"params": params})}


def unauthorized(response: httpx.Response) -> str:
    """Check that a response rejects the credential, and return its `WWW-Authenticate` challenge."""
    assert (response.status_code, response.headers["content-type"]) == (401, "application/json")
    body = response.json()
    assert set(body) == {"error", "error_description"}
    assert body["error"] == "unauthorized"
    assert body["error_description"]
    assert response.headers["cache-control"] == "no-store"
    return str(response.headers.get("www-authenticate", ""))


@pytest.mark.parametrize("call", [INITIALIZE, ("ping",), ("nonsense",)], ids=lambda request: request[0])
def test_requests_that_need_no_credential(anonymous: Peer, call: tuple[Any, ...]) -> None:
    assert anonymous.post(message(*call)).status_code == 200


@pytest.mark.parametrize("call", [("tools/list",), CALL, ("tools/call", {})], ids=lambda request: request[0])
@pytest.mark.parametrize("authorization", ["", "Basic YTpi", "Bearer"])
def test_requests_that_need_a_credential(shared: RunningHost, call: tuple[Any, ...], authorization: str) -> None:
    peer = Peer(shared, headers={"authorization": authorization} if authorization else {})

    metadata = f"{shared.url}/.well-known/oauth-protected-resource"
    assert unauthorized(peer.post(message(*call))) == f'Bearer resource_metadata="{metadata}", scope="mcp"'


@pytest.mark.parametrize("bearer", ["nonsense", "prk_oat_nonsense", "prk_oat_a.b.c", "a b", "x" * 5000])
@pytest.mark.parametrize("call", [INITIALIZE, ("ping",), ("tools/list",), CALL], ids=lambda request: request[0])
def test_an_invalid_token_is_refused_for_every_request(shared: RunningHost, bearer: str, call: tuple[Any, ...]) -> None:
    challenge = unauthorized(Peer(shared, headers={"authorization": f"Bearer {bearer}"}).post(message(*call)))

    assert challenge.startswith('Bearer resource_metadata="')
    assert challenge.endswith('scope="mcp", error="invalid_token"')


def test_an_invalid_token_is_refused_on_notifications_and_invalid_json_too(shared: RunningHost) -> None:
    peer = Peer(shared, headers={"authorization": "Bearer nonsense"})

    assert unauthorized(peer.post({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    assert unauthorized(peer.post(b"{"))


def test_a_rejected_api_key_gets_no_challenge(shared: RunningHost) -> None:
    user = account(shared)
    revoked = account(shared)
    shared.run(shared.host.accounts.connections.revoke(revoked.user_id, revoked.connection.id))

    for key in ("prk_key_nonsense", user.key[:-1], f"{user.key}x", revoked.key):
        assert unauthorized(Peer(shared, headers={"authorization": f"Bearer {key}"}).post(message(*CALL))) == ""


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_an_api_key_is_accepted(shared: RunningHost, scheme: str) -> None:
    peer = Peer(shared, headers={"authorization": f"{scheme} {account(shared).key}"})

    assert peer.tools()
    assert peer.call("count_words", {"text": "a"})["structuredContent"] == {"words": 1}
    assert peer.request(*INITIALIZE)["result"]


@pytest.mark.parametrize("others", [("Bearer nonsense", ""), ("", "Bearer nonsense"), ("", "Basic YTpi"), ("", "")])
def test_two_credentials_are_refused(shared: RunningHost, others: tuple[str, str]) -> None:
    authorization = account(shared).bearer["authorization"]
    body = orjson.dumps(message("tools/list"))
    lines = [f"Authorization: {other or authorization}" for other in others]

    received = exchange(shared, head("Content-Type: application/json", f"Content-Length: {len(body)}", *lines) + body)

    assert received.startswith(b"HTTP/1.1 400 ")
    assert b"one Authorization header" in received


def test_an_empty_credential_counts_as_missing(shared: RunningHost) -> None:
    body = orjson.dumps(message("tools/list"))
    lines = ("Content-Type: application/json", f"Content-Length: {len(body)}", "Authorization: Bearer  ")

    received = exchange(shared, head(*lines) + body)

    assert received.startswith(b"HTTP/1.1 401 ")
    assert b"invalid_token" not in received


@pytest.mark.parametrize("where", ["query", "form"])
def test_a_credential_is_accepted_only_in_its_header(shared: RunningHost, where: str) -> None:
    key = account(shared).key
    path = f"/api/mcp?access_token={key}" if where == "query" else "/api/mcp"
    sent = {"json": message("tools/list")} if where == "query" else {"data": {"access_token": key}}

    response = httpx.post(shared.url + path, **sent)

    assert response.status_code == (401 if where == "query" else 415)


def test_without_oauth_the_challenge_has_no_metadata_url(start: Start) -> None:
    host = start(oauth={"enabled": False})

    assert unauthorized(Peer(host).post(message("tools/list"))) == "Bearer"
    peer = Peer(host, headers={"authorization": "Bearer nonsense"})
    assert unauthorized(peer.post(message("tools/list"))) == 'Bearer error="invalid_token"'


def test_the_challenge_has_the_public_url(start: Start) -> None:
    peer = Peer(start(base_url="https://press.example/"), headers={"host": "press.example"})

    assert 'resource_metadata="https://press.example/.well-known/' in unauthorized(peer.post(message("tools/list")))


class Odd:
    """A bearer authenticator with a configurable outcome, which runs before all others."""

    def __init__(self, host: RunningHost, outcome: Exception | Identity) -> None:
        self.lookups = 0
        self._outcome = outcome
        authenticate = host.host.pipeline._own[Authenticate]
        assert isinstance(authenticate, Authenticate)
        authenticate._authenticators = (Authenticator("odd", self.authenticate), *authenticate._authenticators)

    async def authenticate(self, credentials: Credentials) -> Identity | None:
        if not credentials.bearer:
            return None
        self.lookups += 1
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome


def test_a_credential_that_cannot_be_checked_admits_no_caller(start: Start) -> None:
    host = start()
    peer = Peer(host, account(host))
    Odd(host, BackendError("the database at db.internal is gone"))

    for request in (CALL, ("ping",)):
        response = peer.post(message(*request))
        assert error(response) == (503, -32603)
        assert response.headers["retry-after"] == "1"
        assert "db.internal" not in response.text
    assert Peer(host).post(message("ping")).status_code == 200


def test_a_failing_authenticator_admits_no_caller(start: Start) -> None:
    host = start()
    peer = Peer(host, account(host))
    Odd(host, RuntimeError("the secret ingredient is nutmeg"))

    response = peer.post(message(*CALL))

    assert error(response) == (500, -32603)
    assert "nutmeg" not in response.text


def test_consent_is_requested_once_per_request(start: Start) -> None:
    host = start()
    odd = Odd(host, Identity("someone", "free"))
    peer = Peer(host, headers={"authorization": "Bearer any"})

    peer.call("count_words", {"text": "a"})
    assert odd.lookups == 1
    peer.post([message(*CALL)] * 5)
    assert odd.lookups == 2


def test_a_plugin_recognises_its_own_credentials(start: Start, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    source = """
async def badge(credentials):
    if not credentials.bearer.startswith("badge_"):
        return None
    if credentials.bearer == "badge_void":
        raise Rejected("this badge has run out", reauthorize=True)
    return Identity(credentials.bearer, "free", disabled_tools=frozenset({"count_words"}))

@hookimpl
def pressroom_authenticators():
    return [Authenticator("badge", badge)]
"""
    monkeypatch.syspath_prepend(str(tmp_path))
    host = start(plugins={third_party.write_plugin(tmp_path, third_party.HEAD + source): {}})

    peer = Peer(host, headers={"authorization": "Bearer badge_ada"})
    assert "count_words" not in {tool["name"] for tool in peer.tools()}
    refused = Peer(host, headers={"authorization": "Bearer badge_void"}).post(message("ping"))
    assert 'error="invalid_token"' in unauthorized(refused)
    assert refused.json()["error_description"] == "this badge has run out"
