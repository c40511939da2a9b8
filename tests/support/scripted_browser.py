"""A headless HTTP browser: follows redirects, keeps cookies, fills in forms and presses their buttons."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Final, Self
from urllib.parse import urljoin, urlsplit

import httpx
from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_PAGES: Final = 6


class ScriptedBrowser:
    """Signs in when required, and presses the button of the consent page labelled `decision`.

    `pages` are the titles of the visited pages. `before_decision` is called while the consent page is open.
    """

    def __init__(self, email: str, password: str, decision: str = "Allow") -> None:
        self._email = email
        self._password = password
        self.decision = decision
        self.before_decision: Callable[[], object] = lambda: None
        self.pages: list[str] = []
        self._http = httpx.Client(follow_redirects=True, timeout=30, headers={"user-agent": "Scripted browser"})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._http.close()

    def __call__(self, url: str) -> str:
        """Visit a URL and submit forms as long as it can answer them; return the last page's text."""
        return self.visit(url).text

    def visit(self, url: str) -> httpx.Response:
        """Visit a URL and submit forms as long as it can answer them; return the last response."""
        response = self._http.get(url)
        for _ in range(MAX_PAGES):
            page = LexborHTMLParser(response.text) if "html" in response.headers.get("content-type", "") else None
            self.pages.append(_title(page))
            form = self._answerable(page)
            if form is None:
                return response
            response = self._submit(response, *form)
        raise AssertionError(f"the pages go on and on: {self.pages}")

    def get(self, url: str) -> httpx.Response:
        """Return the response at a URL, without submitting forms."""
        return self._http.get(url)

    def press(self, url: str, button: str) -> httpx.Response:
        """Open a page, signing in if necessary, and press one of its buttons."""
        response = self.visit(url)
        page = LexborHTMLParser(response.text)
        for candidate in page.css("form button"):
            if candidate.text(strip=True) == button:
                return self._submit(response, _form_of(candidate), candidate)
        raise AssertionError(
            f"{url} has no button {button!r}: {[element.text(strip=True) for element in page.css('button')]}"
        )

    def _answerable(self, page: LexborHTMLParser | None) -> tuple[LexborNode, LexborNode | None] | None:
        """Return the form of a sign-in or consent page, with the button to press, or None."""
        if page is None:
            return None
        for form in page.css("form"):
            if form.css_first("input[type=password]"):
                return form, None
            for button in form.css("button"):
                if button.text(strip=True) == self.decision:
                    self.before_decision()
                    return form, button
        return None

    def _submit(self, page: httpx.Response, form: LexborNode, button: LexborNode | None) -> httpx.Response:
        fields = {}
        for field in form.css("input"):
            kind = field.attributes.get("type") or "text"
            name = field.attributes.get("name")
            if not name or (kind in ("checkbox", "radio") and "checked" not in field.attributes):
                continue
            filled = {"email": self._email, "password": self._password}.get(kind)
            fields[name] = filled or field.attributes.get("value") or ""
        if button is not None and (name := button.attributes.get("name")):
            fields[name] = button.attributes.get("value") or ""
        action = (button.attributes.get("formaction") if button else None) or form.attributes.get("action")
        target = urljoin(str(page.url), action or "")
        method = (form.attributes.get("method") or "get").upper()
        assert method == "POST", f"a form of {page.url} that is not posted: {method}"
        parts = urlsplit(str(page.url))
        headers = {"origin": f"{parts.scheme}://{parts.netloc}", "sec-fetch-site": "same-origin"}
        return self._http.post(target, data=fields, headers=headers)


def _title(page: LexborHTMLParser | None) -> str:
    node = page.css_first("title") if page else None
    return node.text(strip=True) if node else ""


def _form_of(node: LexborNode) -> LexborNode:
    parent = node.parent
    while parent is not None and parent.tag != "form":
        parent = parent.parent
    assert parent is not None
    return parent
