"""A real OpenID Connect provider for tests: npm's `oidc-provider`, and a scripted browser for signing in."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import parse_qsl, urljoin, urlsplit

import httpx
from joserfc.jwk import ECKey, KeySet, OKPKey, RSAKey
from selectolax.lexbor import LexborHTMLParser

from support.downloads import npm_packages
from support.needs import free_port, program

SECRET: Final = "a secret: with/odd+characters=&%41"
REDIRECT_URI: Final = "http://127.0.0.1:9/auth/callback"
PEOPLE: Final[Mapping[str, Mapping[str, Any]]] = {
    "ada": {"email": "Ada@Example.com", "email_verified": True, "name": "Ada Lovelace"},
    "eve": {"email": "eve@example.com", "email_verified": False, "name": "Eve"},
    "nemo": {},
}
"""Claims of the users by subject; any password is accepted."""

_FOLDER: Final = Path(__file__).parent
_CLIENT: Final = {"response_types": ["code"], "grant_types": ["authorization_code"]}
_MAX_STEPS: Final = 12


def private_keys(name: str) -> list[dict[str, Any]]:
    """Return new private keys for every algorithm, with ids prefixed by `name`."""
    keys = KeySet(
        [
            RSAKey.generate_key(2048, {"kid": f"{name}-rsa", "use": "sig"}),
            ECKey.generate_key("P-256", {"kid": f"{name}-ec", "use": "sig"}),
            OKPKey.generate_key("Ed25519", {"kid": f"{name}-okp", "use": "sig"}),
        ]
    )
    return [dict(key) for key in keys.as_dict(private=True)["keys"]]


def clients(auth_methods: Sequence[str], redirect_uri: str = REDIRECT_URI) -> list[dict[str, Any]]:
    """Return the registered clients that use one of `auth_methods`: one per method, and one per algorithm."""
    found_clients: list[dict[str, Any]] = [
        {"client_id": "basic", "client_secret": SECRET},
        {"client_id": "post", "client_secret": SECRET, "token_endpoint_auth_method": "client_secret_post"},
        {"client_id": "public", "token_endpoint_auth_method": "none"},
    ]
    found_clients += [
        {"client_id": algorithm, "client_secret": SECRET, "id_token_signed_response_alg": algorithm}
        for algorithm in ("PS256", "ES256", "EdDSA", "Ed25519", "HS256")
    ]
    default = {"token_endpoint_auth_method": "client_secret_basic", "redirect_uris": [redirect_uri]}
    registered = [_CLIENT | default | client for client in found_clients]
    return [client for client in registered if client["token_endpoint_auth_method"] in auth_methods]


class OidcProvider:
    """A provider in a separate process. Use it as a context manager.

    `keys` are its signing keys. After `stop` and `start` all sessions are lost, but the issuer URL is the same.
    """

    def __init__(
        self,
        *,
        claims_in_id_token: bool = False,
        auth_methods: Sequence[str] = ("client_secret_basic", "none"),
        redirect_uri: str = REDIRECT_URI,
    ) -> None:
        self.keys: Sequence[Mapping[str, Any]] = private_keys("first")
        self._claims_in_id_token = claims_in_id_token
        self._auth_methods = auth_methods
        self._redirect_uri = redirect_uri
        self._port = free_port()
        self._process: subprocess.Popen[str] | None = None
        self.issuer = f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start the provider, and wait until it listens."""
        config = {
            "module": (
                npm_packages("oidc-provider", _FOLDER / "package.json") / "oidc-provider" / "lib" / "index.js"
            ).as_uri(),
            "port": self._port,
            "issuer": self.issuer,
            "clients": clients(self._auth_methods, self._redirect_uri),
            "authMethods": self._auth_methods,
            "keys": self.keys,
            "people": PEOPLE,
            "claimsInIdToken": self._claims_in_id_token,
        }
        self._process = subprocess.Popen(
            [program("node"), str(_FOLDER / "provider.mjs"), json.dumps(config)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._wait_for("ready")

    def stop(self) -> None:
        """Stop the provider; its port then refuses connections."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def freeze(self) -> None:
        """Suspend the provider, until it is stopped: it accepts connections, but never responds."""
        self._running.send_signal(signal.SIGSTOP)

    def set_clock(self, ahead: int) -> None:
        """Set the provider's clock `ahead` seconds ahead of the machine's, or behind if negative."""
        stdin = self._running.stdin
        assert stdin is not None
        stdin.write(f"{ahead}\n")
        stdin.flush()
        self._wait_for("moved")

    @property
    def _running(self) -> subprocess.Popen[str]:
        assert self._process is not None
        return self._process

    def _wait_for(self, word: str) -> None:
        stdout = self._running.stdout
        assert stdout is not None
        for line in stdout:
            if line.strip() == word:
                return
        raise AssertionError(f"the provider ended before it was {word}")


async def sign_in(url: str, person: str, redirect_uri: str = REDIRECT_URI) -> dict[str, str]:
    """Sign in as a browser does: start at `url`, submit the provider's forms, and return the callback's query."""
    async with httpx.AsyncClient(timeout=30) as browser:
        response = await browser.get(url)
        for _ in range(_MAX_STEPS):
            location = urljoin(str(response.url), response.headers.get("location", ""))
            if response.is_redirect and location.startswith(redirect_uri):
                return dict(parse_qsl(urlsplit(location).query, keep_blank_values=True))
            response = await (browser.get(location) if response.is_redirect else _submit(browser, response, person))
    raise AssertionError(f"the provider did not send the browser back: {response.status_code} {response.text[:500]}")


async def cancel(url: str) -> dict[str, str]:
    """Open the provider's first form, follow its link to cancel, and return the callback's query."""
    async with httpx.AsyncClient(timeout=30, follow_redirects=True) as browser:
        form = await browser.get(url)
        link = LexborHTMLParser(form.text).css_first("a[href$='/abort']")
        assert link is not None, form.text[:500]
        response = await browser.get(urljoin(str(form.url), link.attributes["href"] or ""), follow_redirects=False)
        while not (location := response.headers["location"]).startswith(REDIRECT_URI):
            response = await browser.get(urljoin(str(response.url), location), follow_redirects=False)
    return dict(parse_qsl(urlsplit(location).query))


async def _submit(browser: httpx.AsyncClient, page: httpx.Response, person: str) -> httpx.Response:
    form = LexborHTMLParser(page.text).css_first("form")
    assert form is not None, f"{page.status_code} {page.text[:500]}"
    fields = {field.attributes["name"] or "": field.attributes.get("value") or "" for field in form.css("input[name]")}
    fields = {name: {"login": person, "password": "x"}.get(name, value) for name, value in fields.items()}
    return await browser.post(urljoin(str(page.url), form.attributes["action"] or ""), data=fields)
