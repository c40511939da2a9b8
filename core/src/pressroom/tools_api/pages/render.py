"""The pages for people: the list of tools, a page for each, and errors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from pressroom.errors import InvalidInput, NotFound
from pressroom.sdk import Branding
from pressroom.tools_api.pages.assets import DARK, LIGHT, Asset, load_assets
from pressroom.tools_api.pages.fields import build_fields
from pressroom.tools_api.pages.forms import Descriptor, FormState, first_endpoint, input_from_form
from pressroom.tools_api.pages.metadata import Head, index_head, tool_head
from pressroom.tools_api.pages.results import ResultView, problems_of, result_view
from pressroom.tools_api.pages.samples import curl_command, curl_lead, response_sample
from pressroom.tools_api.pages.views import ERRORS, LINK_LIFETIME, ToolView, safe_link, sentence, tool_view

_CODE = re.compile(r"`([^`\n]+)`")


class Pages:
    """Renders the pages of one server. Templates are compiled and assets read when it is made.

    Args:
        branding: the operator's names, addresses and colours.
        base_url: the server's public address, without a slash at the end; a path in it goes before every link.
        file_origins: further origins that results are loaded from, such as the public address of a bucket.
        offers_mcp: whether the server answers at the branding's `mcp_url`, so that the pages may say so.
    """

    def __init__(
        self, branding: Branding, base_url: str, file_origins: Iterable[str] = (), *, offers_mcp: bool = True
    ) -> None:
        parts = urlsplit(base_url)
        self._branding = branding
        self._base_url = base_url
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self._root = parts.path.rstrip("/")
        self._assets = load_assets(branding)
        self.content_security_policy = _security_policy(self._origin, branding.logo_url, file_origins)
        environment = Environment(
            loader=PackageLoader(__package__),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        environment.filters.update(code=_with_code, paragraphs=_paragraphs, json_script=_json_script)
        environment.globals.update(
            brand=branding,
            brand_href=safe_link(branding.url),
            docs_href="" if branding.docs_url == f"{base_url}/tools" else safe_link(branding.docs_url),
            offers_mcp=offers_mcp,
            root=self._root,
            asset=self._asset_href,
            light=LIGHT,
            dark=DARK,
        )
        names = ("index.html", "tool.html", "error.html")
        self._templates = {name: environment.get_template(name) for name in names}

    def index(self, descriptors: Sequence[Descriptor]) -> bytes:
        """Return the page that lists the tools, in the order given."""
        tools = [self._view(descriptor) for descriptor in descriptors]
        head = index_head(self._branding, tools, self._origin, self._root)
        return self._render("index.html", head, tools=tools)

    def tool(self, descriptor: Descriptor, state: FormState | None = None) -> bytes:
        """Return a tool's page, with the form as `state` left it and with what came of the call."""
        state = state or FormState()
        endpoint = first_endpoint(descriptor)
        params = endpoint.get("params", ())
        tool = self._view(descriptor)
        problems = problems_of(params, state.answer)
        result = result_view(tool, state.answer)
        failed = result is not None and not result.url
        return self._render(
            "tool.html",
            tool_head(self._branding, tool, self._origin, self._root, failed=failed),
            tool=tool,
            fields=build_fields(params, state.form, problems),
            result=result,
            blank=ResultView(),
            curl=curl_command(tool.endpoints[0].url, _request(endpoint, state)) if tool.endpoints else "",
            curl_lead=curl_lead(tool.endpoints[0].url) if tool.endpoints else "",
            response=response_sample(descriptor, self._branding, self._base_url, state.answer)
            if tool.endpoints
            else "",
            errors=ERRORS,
            link_lifetime=LINK_LIFETIME,
        )

    def error(self, status: int, title: str, message: str) -> bytes:
        """Return the page for an HTTP error: what happened, and what to do next."""
        head = Head(f"{title} · {self._branding.name}", sentence(message))
        return self._render("error.html", head, status=status, title=title)

    def asset(self, name: str) -> Asset:
        """Return a static file.

        Raises:
            NotFound: there is no such file.
        """
        try:
            return self._assets[name]
        except KeyError:
            raise NotFound(f"there is no file {name}") from None

    def _view(self, descriptor: Descriptor) -> ToolView:
        return tool_view(descriptor, self._base_url, self._root)

    def _asset_href(self, name: str) -> str:
        return f"{self._root}/tools/static/{name}?v={self._assets[name].version}"

    def _render(self, template: str, head: Head, **values: Any) -> bytes:
        # A lone surrogate has no UTF-8 form; one in a value must not cost the page.
        return self._templates[template].render(head=head, **values).encode("utf-8", "replace")


def _request(endpoint: Mapping[str, Any], state: FormState) -> Mapping[str, Any]:
    """Return the input that the curl command shows: what the form holds, else an example."""
    params = endpoint.get("params", ())
    if state.form:
        try:
            return input_from_form(params, state.form)
        except InvalidInput:
            pass  # the page shows what is wrong; the command shows an example meanwhile
    examples = endpoint.get("examples") or ()
    if examples:
        chosen: Mapping[str, Any] = examples[0]["params"]
        return chosen
    return {param["name"]: param.get("example", "…") for param in params if param.get("required")}


def _security_policy(origin: str, logo_url: str, file_origins: Iterable[str]) -> str:
    """Return the `Content-Security-Policy` of the pages: nothing inline, nothing from elsewhere but pictures."""
    logo = urlsplit(logo_url)
    pictures = [origin, *file_origins]
    if logo.scheme in ("http", "https") and logo.netloc:
        pictures.append(f"{logo.scheme}://{logo.netloc}")
    rules = {
        "default-src": "'none'",
        "base-uri": "'none'",
        "connect-src": "'self'",
        "font-src": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "img-src": " ".join(["'self'", "data:", *dict.fromkeys(pictures)]),
        "manifest-src": "'self'",
        "script-src": "'self'",
        "style-src": "'self'",
        "require-trusted-types-for": "'script'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _with_code(text: str) -> Markup:
    """Return a text as HTML, with what stands between backticks as code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped before the tags go in


def _paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text: what stands between blank lines."""
    return [part for part in re.split(r"\n\s*\n", text.strip()) if part]


def _json_script(value: Any) -> Markup:
    """Return JSON that may stand inside a script element: it can neither end it nor open a comment."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - holds no character that HTML would act on
