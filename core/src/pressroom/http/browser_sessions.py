"""Browser sessions: the session cookie, encrypted cookies, and CSRF tokens of forms."""

from __future__ import annotations

import hmac
import json
import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs, quote, unquote, urlsplit

import orjson
from joserfc import jwe
from joserfc.errors import JoseError
from joserfc.jwk import OctKey
from sanic import HTTPResponse, Request

from pressroom.accounts.records import BrowserSession, User
from pressroom.accounts.sessions import Sessions
from pressroom.columns import new_secret
from pressroom.errors import Forbidden, InvalidInput, PayloadTooLarge, UnsupportedMediaType
from pressroom.oauth.records import AUTHORIZE_PATH

_HEADER = {"alg": "dir", "enc": "A256GCM"}


class CookieCipher:
    """Encrypts small mappings of strings for a limited time, as compact JWE (RFC 7516) with AES-256-GCM.

    Args:
        secret: the server's secret key, from which a key for this purpose is derived.
        purpose: the use of the texts; texts sealed for one purpose cannot be opened for another.
        clock: returns the Unix time in seconds.
    """

    def __init__(self, secret: bytes, purpose: str, *, clock: Callable[[], float] = time.time) -> None:
        self._key = OctKey.import_key(hmac.digest(secret, f"pressroom seal: {purpose}".encode(), "sha256"))
        self._clock = clock

    def seal(self, texts: Mapping[str, str], *, seconds: float) -> str:
        """Return the texts encrypted in a form that fits a cookie. They expire after `seconds`."""
        content = orjson.dumps({"texts": dict(texts), "until": self._clock() + seconds})
        return jwe.encrypt_compact(dict(_HEADER), content, self._key)

    def open(self, sealed: str) -> Mapping[str, str] | None:
        """Return the texts, or `None` if they have expired or were not sealed with this key and purpose."""
        try:
            content = orjson.loads(jwe.decrypt_compact(sealed, self._key).plaintext or b"")
        except (JoseError, ValueError):
            return None
        if self._clock() > content["until"]:
            return None
        texts: Mapping[str, str] = content["texts"]
        return texts


FORM: Final = "application/x-www-form-urlencoded"
MAX_FORM_BYTES: Final = 65_536
"""Maximum size in bytes of a form of the account pages."""

Fields = Mapping[str, list[str]]
"""The fields of a form, each with all its values."""


SIGN_OUT: Final = "/sign-out"
SWITCH: Final = "/dashboard/switch"
"""The path at which people choose the account that they work in."""

_OF_PERSON: Final = frozenset({SIGN_OUT, SWITCH, AUTHORIZE_PATH})
"""Paths of forms that act for the person, whichever account they work in."""


class StaleFormError(Exception):
    """A form of this site with an outdated CSRF token, due to a new sign-in or a switch to another account.

    Also raised, with a `reason`, for a form that its sender is no longer permitted to send. `fields` holds its content.
    """

    def __init__(self, fields: Fields, reason: str = "") -> None:
        super().__init__(reason or "the form's CSRF token is out of date")
        self.fields = fields
        self.reason = reason


_MAX_FIELDS: Final = 1000
_SECRET: Final = re.compile(r"[0-9A-Za-z]{43}", re.ASCII)
_NOT_IN_URLS: Final = re.compile(r"[^\x21-\x7e]")
_MISLEADING: Final = re.compile(r"[\x00-\x1f\x7f\\]")
_MAX_PATH_LENGTH: Final = 4096
_MAX_DECODINGS: Final = 5
_RELOAD_HINT: Final = "go back, reload the page and send the form again"

STALE_FORM: Final = (
    "this form was opened too long ago, or before you signed in, signed out or switched to another account in another "
    f"tab: {_RELOAD_HINT}"
)
"""Why a form with an outdated CSRF token is refused."""


@dataclass(slots=True)
class _BrowserState:
    """State of the browser of one request. `anonymous` is the secret of a browser that is not signed in."""

    token: str
    anonymous: str
    fresh: bool
    session: BrowserSession | None = None
    looked_up: bool = False


class BrowserSessions:
    """Looks up, starts and ends browser sessions, and protects forms against CSRF.

    Cookies are HttpOnly and SameSite=Lax. If the public URL is https, they are also Secure, and have the prefix
    `__Host-` if that URL has no path. A form carries the hidden field `csrf`, which is bound to a cookie of the
    browser, to the account of another person that the session works in, to the path that the form is posted to, and to
    its purpose if several forms share a path. A post also needs an `Origin` (or `Sec-Fetch-Site`) of this site if the
    browser sends one. Look up the session before you create or check the token of a form that acts in an account.

    Args:
        sessions: the session store.
        base_url: the server's public URL.
        secret: the server's secret key, from which the key of CSRF tokens is derived.
        lifetime: seconds that a browser keeps the session cookie.
    """

    def __init__(self, sessions: Sessions, base_url: str, secret: bytes, *, lifetime: float = 2_592_000) -> None:
        parts = urlsplit(base_url)
        self._sessions = sessions
        self._origin = f"{parts.scheme}://{parts.netloc}".lower()
        self._path = parts.path.rstrip("/") or "/"
        self._secure = parts.scheme == "https"
        self._prefix = "__Host-" if self._secure and self._path == "/" else ""
        self._key = hmac.digest(secret, b"pressroom form token", "sha256")
        self._lifetime = int(lifetime)

    async def session(self, request: Request) -> BrowserSession | None:
        """Return the session of a request, or `None` for an anonymous caller. Looked up once per request."""
        browser = self._browser_state(request)
        if browser.token and not browser.looked_up:
            browser.session = await self._sessions.find(browser.token)
        browser.looked_up = True
        return browser.session

    def known_session(self, request: Request) -> BrowserSession | None:
        """Return the session of a request if it was looked up already, otherwise `None`."""
        return self._browser_state(request).session

    def session_token(self, request: Request) -> str:
        """Return the token of the session cookie, whose session can have ended, or an empty string."""
        return self._browser_state(request).token

    async def sign_in(self, request: Request, response: HTTPResponse, user: User, *, works_in: str = "") -> None:
        """Start a new session for the browser, end its previous one, and set the cookie on the response.

        `user` is the account at the time the person authenticated. `works_in` and the errors raised are those of
        `Sessions.start`.
        """
        browser = self._browser_state(request)
        token = await self._sessions.start(
            user.id,
            client_ip=request.ctx.client_ip,
            user_agent=request.headers.get("user-agent", ""),
            proven=user,
            works_in=works_in,
        )
        if browser.token:
            await self._sessions.end(browser.token)
        self.set_cookie(response, "session", token, max_age=self._lifetime)
        self.remove_cookie(response, "form")

    async def work_in(self, request: Request, account_id: str) -> None:
        """Switch the session to another account from the next request on. Raises the errors of `Sessions.work_in`."""
        session = await self.session(request)
        if session is not None:
            await self._sessions.work_in(session, account_id)

    async def sign_out(self, request: Request, response: HTTPResponse) -> None:
        """End the browser's session and remove its cookie."""
        if token := self._browser_state(request).token:
            await self._sessions.end(token)
        self.remove_cookie(response, "session")

    def csrf_token(self, request: Request, path: str, purpose: str = "") -> str:
        """Return the CSRF token of a form. Pass the page's response to `finish`.

        `path` is the one that the form is posted to, as this server sees it: without the path of its public URL and
        without a query. `purpose` distinguishes forms posted to the same path; see `form`.
        """
        nonce = secrets.token_hex(8)
        return f"{nonce}.{self._signature(nonce, self._browser_state(request), path, purpose)}"

    def finish(self, request: Request, response: HTTPResponse) -> HTTPResponse:
        """Set the cookie that the page's CSRF tokens are bound to if the browser has none."""
        browser = self._browser_state(request)
        if browser.fresh and not browser.token:
            self.set_cookie(response, "form", browser.anonymous)
        return response

    def form(
        self,
        request: Request,
        purpose: Callable[[Fields], str] | None = None,
        *,
        max_bytes: int = MAX_FORM_BYTES,
        keep_stale: bool = False,
    ) -> Fields:
        """Return the fields of a posted form whose CSRF token was issued for the path of the request.

        `purpose` returns the form's purpose from its fields; the token must have been issued for that purpose, too.

        Raises:
            UnsupportedMediaType: the body is not a form.
            PayloadTooLarge: the body is larger than `max_bytes`.
            InvalidInput: the body is not UTF-8, or has too many fields.
            StaleFormError: with `keep_stale`, the token is missing or wrong, but the browser states that the form is
                one of this site.
            Forbidden: the token is missing or wrong, or the form was posted from another site; the message tells the
                person to go back, reload the page and send the form again.
        """
        self._check_origin(request)
        fields = parse_form(request, max_bytes)
        nonce, _, signature = fields.get("csrf", [""])[-1].partition(".")
        form_purpose = purpose(fields) if purpose is not None else ""
        expected = self._signature(nonce, self._browser_state(request), request.path, form_purpose)
        if not hmac.compare_digest(signature.encode(), expected.encode()):
            if keep_stale and self.comes_from_here(request):
                raise StaleFormError(fields)
            raise Forbidden(STALE_FORM)
        return fields

    def comes_from_here(self, request: Request) -> bool:
        """Return whether the browser states that a page of this site made the request (Fetch Metadata; `Origin`)."""
        site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
        same_origin = origin is not None and origin.lower() == self._origin
        return site == "same-origin" or (site is None and same_origin)

    def cookie(self, request: Request, name: str) -> str:
        """Return the value of one of the server's cookies, or an empty string."""
        # Look up the exact name: Sanic prefers the prefix `__Secure-` over any other, including `__Host-`, and a cookie
        # of that name can come from a sibling subdomain.
        values = dict.get(request.cookies, f"{self._prefix}pressroom_{name}", [""])
        return str(values[0])

    def set_cookie(self, response: HTTPResponse, name: str, value: str, *, max_age: int | None = None) -> None:
        """Set one of the server's cookies. Without `max_age` (seconds), it lasts until the browser closes."""
        response.add_cookie(
            f"{self._prefix}pressroom_{name}",
            value,
            path=self._path,
            secure=self._secure,
            httponly=True,
            samesite="Lax",
            max_age=max_age,
        )

    def remove_cookie(self, response: HTTPResponse, name: str) -> None:
        """Remove one of the server's cookies from the browser."""
        self.set_cookie(response, name, "", max_age=0)

    def _browser_state(self, request: Request) -> _BrowserState:
        browser: _BrowserState | None = getattr(request.ctx, "browser", None)
        if browser is None:
            token, anonymous = self.cookie(request, "session"), self.cookie(request, "form")
            fresh = _SECRET.fullmatch(anonymous) is None
            browser = _BrowserState(
                token if _SECRET.fullmatch(token) else "", new_secret() if fresh else anonymous, fresh
            )
            request.ctx.browser = browser
        return browser

    def _signature(self, nonce: str, browser: _BrowserState, path: str, purpose: str) -> str:
        holder = f"session {browser.token}" if browser.token else f"form {browser.anonymous}"
        # JSON keeps the parts unambiguous.
        bound_to = json.dumps([nonce, holder, _account(browser, path), _one_spelling(path), purpose])
        return hmac.digest(self._key, bound_to.encode(), "sha256").hex()

    def _check_origin(self, request: Request) -> None:
        """Refuse requests made by other sites (Fetch standard, `Origin`; Fetch Metadata)."""
        origin = request.headers.get("origin")
        site = request.headers.get("sec-fetch-site", "same-origin")
        if site not in ("same-origin", "none") or (origin is not None and origin.lower() != self._origin):
            raise Forbidden(
                f"the form was sent from an origin other than this server's, which is {self._origin}: "
                f"open the page there, or {_RELOAD_HINT}"
            )


def _account(browser: _BrowserState, path: str) -> str:
    """Return the account of another person that a form acts in, or an empty string."""
    session = browser.session
    return "" if session is None or session.role == "owner" or path in _OF_PERSON else session.user.id


def parse_form(request: Request, max_bytes: int = MAX_FORM_BYTES) -> Fields:
    """Return the fields of a posted form, without checking its origin.

    Raises:
        UnsupportedMediaType: the body is not a form.
        PayloadTooLarge: the body is larger than `max_bytes`.
        InvalidInput: the body is not UTF-8, or has too many fields.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != FORM:
        raise UnsupportedMediaType(f"a form is sent as {FORM}")
    if len(request.body) > max_bytes:
        raise PayloadTooLarge(f"the form is too large: it may have at most {max_bytes} bytes")
    try:
        return parse_qs(request.body.decode(), keep_blank_values=True, max_num_fields=_MAX_FIELDS, errors="strict")
    except ValueError:
        raise InvalidInput("", f"the form is not UTF-8, or has more than {_MAX_FIELDS} fields") from None


def _one_spelling(path: str) -> str:
    """Return a path with normalised percent-encoding and without a trailing slash."""
    return "/".join(quote(unquote(segment), safe="") for segment in path.rstrip("/").split("/"))


def return_path(value: str, default: str) -> str:
    """Return a redirect target for after sign-in: `value` if it is a path of this site, otherwise the default.

    Only printable ASCII is accepted. Neither the path nor any percent-decoded form of it can begin with two slashes, or
    contain a backslash, which browsers read as a slash, or a control character, which they drop.
    """
    if len(value) > _MAX_PATH_LENGTH or _NOT_IN_URLS.search(value) or not value.startswith("/"):
        return default
    path = value.partition("?")[0]
    for _ in range(_MAX_DECODINGS):
        if path.startswith("//") or _MISLEADING.search(path):
            return default
        encoded, path = path, unquote(path)
        if path == encoded:
            return value
    return default


def sign_in_path(return_to: str) -> str:
    """Return the path of the sign-in page, with a path of this site to return to afterwards."""
    return f"/sign-in?return_to={quote(return_to, safe='')}"
