"""Users with accounts on a running host: scripted browsers without JavaScript, and account history."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Self

import httpx
from pressroom.accounts.records import User
from pressroom.columns import new_id
from pressroom.storage.database.tables import ActivityRow, ClientRow, ConnectionRow, QuotaRow, TokenFamilyRow
from pressroom.testing import RunningHost
from selectolax.lexbor import LexborHTMLParser

EMAIL: Final = "ada@example.org"
PASSWORD: Final = "violet harbour lantern moss"
PLANS: Final[Mapping[str, Any]] = {
    "pro": {"title": "Professional"},
    "free": {
        "title": "Starter",
        "quotas": {"articles_created": 40, "articles_published": 20, "images_generated": 300, "seo_reports": 10},
    },
}
HOSTILE: Final = "<img src=x onerror=alert(1)>\"'&{{7*7}}"


def add_person(host: RunningHost, email: str = EMAIL, *, name: str = "Ada Lovelace", password: str = PASSWORD) -> User:
    """Create an account."""
    return host.run(host.host.accounts.users.add(email, name=name, password=password))


class Page:
    """A page received by a browser, and its forms."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.status = response.status_code
        self.html = response.text
        self.tree = LexborHTMLParser(response.text)

    @property
    def path(self) -> str:
        """The final path after all redirects."""
        return self.response.url.path

    @property
    def text(self) -> str:
        """The text of the main element."""
        main = self.tree.css_first("main")
        return " ".join(main.text(separator=" ").split()) if main is not None else ""

    @property
    def title(self) -> str:
        """The text of the `title` element."""
        node = self.tree.css_first("title")
        return node.text() if node is not None else ""

    def one(self, selector: str) -> str:
        """Return the text of the only element that matches a selector."""
        (node,) = self.tree.css(selector)
        return " ".join(node.text(separator=" ").split())

    @property
    def framed(self) -> LexborHTMLParser:
        """The document in the only sandboxed frame."""
        (frame,) = self.tree.css("iframe[sandbox][srcdoc]")
        return LexborHTMLParser(frame.attributes["srcdoc"] or "")

    def fields(self, action: str, button: str = "") -> dict[str, str]:
        """Return the hidden fields of the first form that posts to a path and, if given, has such a button."""
        for form in self.tree.css("form[method=post]"):
            buttons = {button.attributes.get("value") for button in form.css("button")}
            if (form.attributes["action"] or "").partition("#")[0] == action and (not button or button in buttons):
                hidden = form.css("input[type=hidden]")
                return {str(field.attributes["name"]): field.attributes["value"] or "" for field in hidden}
        raise AssertionError(f"there is no form for {action}: {self.text}")


class BrowserWithoutScreen:
    """Keeps cookies, follows redirects and submits forms, like a browser without JavaScript.

    `origin` is the server's public origin, if it differs from the URL used to reach it.
    """

    def __init__(self, host: RunningHost, origin: str = "") -> None:
        self.url = host.url
        self.origin = origin or host.url
        self.client = httpx.Client(base_url=host.url, follow_redirects=True, timeout=30)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def get(self, path: str, **headers: str) -> Page:
        """Open a path."""
        return Page(self.client.get(path, headers=headers))

    def post(self, path: str, fields: Mapping[str, Any], **headers: str) -> Page:
        """Post fields as a browser submits a form from a page of this site."""
        return Page(self.client.post(path, data=fields, headers={"Origin": self.origin, **headers}))

    def submit(self, page: Page, action: str, /, **typed: Any) -> Page:
        """Fill in and submit a form of a page: the one with the button `typed["action"]`, if given."""
        return self.post(action, page.fields(action, typed.get("action", "")) | typed)

    def sign_in(self, email: str = EMAIL, password: str = PASSWORD) -> Page:
        """Sign in, and return the resulting page."""
        return self.submit(self.get("/sign-in"), "/sign-in", email=email, password=password)

    def enter(self, host: RunningHost, user: User) -> None:
        """Sign in without a password, because checking one takes half a second."""
        token = host.run(host.host.accounts.sessions.start(user.id, user_agent="a test"))
        self.client.cookies.set("pressroom_session", token, domain="127.0.0.1", path="/")

    def session_cookie(self) -> str:
        """Return the session token, or an empty string."""
        return next(
            (cookie.value or "" for cookie in self.client.cookies.jar if cookie.name.endswith("pressroom_session")), ""
        )


def fill(host: RunningHost, user: User, *, calls: int = 30) -> None:
    """Give a user some history: connections of both kinds, used quotas, successful and failed calls."""
    host.run(_fill(host, user, calls))


async def _fill(host: RunningHost, user: User, calls: int) -> None:
    now = datetime.now(UTC)
    accounts = host.host.accounts
    names = ("Claude Code on the laptop", "Nightly publishing job", "A name that somebody wrote without a thought " * 2)
    keys = [(await accounts.api_keys.create(user.id, name.strip()[:100]))[0] for name in names]
    await accounts.connections.set_disabled_tools(user.id, keys[1].id, ["generate_qr_code"])
    client = ClientRow(
        id="client-chatgpt",
        name="ChatGPT",
        redirect_uris=["https://chatgpt.com/connector_platform_oauth_redirect"],
        auth_method="none",
        secret_hash=None,
        metadata_hash=None,
        client_metadata={},
        created_at=now,
    )
    connection = ConnectionRow(
        id=new_id("c"),
        user_id=user.id,
        kind="oauth",
        name="ChatGPT",
        disabled_tools=[],
        created_at=now - timedelta(days=3),
        last_used_at=now - timedelta(minutes=4),
        last_used_address="203.0.113.7",
    )
    family = TokenFamilyRow(
        id=new_id("t"),
        connection_id=connection.id,
        client_id=client.id,
        scope="mcp",
        resource="",
        created_at=now,
        revoked_at=None,
    )
    month = f"{now:%Y-%m}"
    used = {"articles_created": 12, "articles_published": 17, "images_generated": 0, "seo_reports": 10}
    async with host.host.database.writing() as session:
        session.add_all([client, connection])
        await session.flush()
        session.add(family)
        session.add_all(
            QuotaRow(user_id=user.id, month=month, quota=quota, used=count) for quota, count in used.items()
        )
        for number in range(calls):
            session.add(
                ActivityRow(
                    user_id=user.id,
                    connection_id=keys[number % 2].id if number % 5 else connection.id,
                    at=now - timedelta(minutes=7 * (calls - number)),
                    tool=("create_content", "generate_qr_code", "check_blog_seo", "publish_content")[number % 4],
                    code=("ok", "ok", "ok", "ok", "validation_error", "ok", "quota_exceeded")[number % 7],
                    cached=number % 9 == 0,
                    duration=0.04 * (number + 1) ** 1.4,
                )
            )
