"""The frame of every page in the operator's branding, with metadata; responses for private pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from types import CodeType
from typing import Any, Final
from urllib.parse import urlsplit

from jinja2.bccache import Bucket, BytecodeCache
from markupsafe import Markup, escape
from sanic import HTTPResponse

from pressroom.config.models import BrandingSettings
from pressroom.errors import NotFound
from pressroom.http.assets import DARK, LIGHT, Asset, load_assets
from pressroom.http.web_fonts import WebFonts
from pressroom.plugins.template_folder import FRAME_FOLDER, TemplateFolder
from pressroom.sdk import Branding, PageTemplates
from pressroom.sdk.page_templates import TemplateOptions

ALL_TOOLS: Final = ("/tools", "See all tools")
HOME: Final = ("/", "Go to the home page")
"""Links that an error page can offer: the path and the link text."""

_DESCRIPTION_LENGTH = 160
_ABBREVIATIONS: Final = frozenset({"ai", "api", "html", "mcp", "pdf", "qr", "seo", "svg", "url"})


@dataclass(frozen=True, slots=True)
class Head:
    """The metadata of a page. `canonical` and `alternate` are empty for a page without its own URL."""

    title: str
    description: str
    canonical: str = ""
    alternate: str = ""
    linked_data: Any = None


def clip(text: str, length: int = _DESCRIPTION_LENGTH) -> str:
    """Return a text on one line, truncated at a word boundary to at most `length` characters."""
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    return line[: length - 1].rsplit(" ", 1)[0].rstrip(" ,;:.") + "…"


def title_of(name: str) -> str:
    """Return a configuration name as a display title: `seo_reports_made` becomes `SEO reports made`."""
    words = re.split("[_-]", name)
    title = " ".join(word.upper() if word in _ABBREVIATIONS else word for word in words)
    return title[:1].upper() + title[1:]


HTML: Final = "text/html; charset=utf-8"

# No Cross-Origin-Opener-Policy: web clients open sign-in and consent in a pop-up window, and the page that it returns
# to needs its opener.
_PRIVATE: Final[Mapping[str, str]] = {
    "Cache-Control": "no-store",
    # Other sites learn nothing from the URLs of these pages; `no-referrer` would make forms send `Origin: null`.
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}


def private_page(body: bytes, security_policy: str, status: int = 200) -> HTTPResponse:
    """Return a response for a page that is neither cached nor framed by other sites.

    `security_policy` is one of the site's: `content_security_policy`, or `redirecting_security_policy` if submitting a
    form of the page can end in a redirect to another site.
    """
    headers = {**_PRIVATE, "Content-Security-Policy": security_policy}
    return HTTPResponse(body, status=status, headers=headers, content_type=HTML)


def see_other(location: str) -> HTTPResponse:
    """Return a redirect to be followed with GET (RFC 9110, section 15.4.4). The location is not validated."""
    return HTTPResponse(status=303, headers={**_PRIVATE, "Location": location})


_CODE = re.compile(r"`([^`\n]+)`")
_LITERAL: Final = re.compile(r"[a-z]+(?:_[a-z]+)+: |\S*[./:@]\S")
"""The beginning of a text that keeps its case: a parameter, a URL, a host name, an e-mail address, or a file name."""


class _CompiledTemplates(BytecodeCache):
    """A process-wide cache of compiled templates, shared by the environments of all interfaces and servers.

    Sharing is safe because all environments have the same options and filters, and globals are looked up at run time.
    """

    def __init__(self) -> None:
        self._compiled: dict[str, tuple[str, CodeType]] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill the bucket if the template was already compiled from the same source."""
        checksum, code = self._compiled.get(bucket.key, ("", None))
        bucket.code = code if checksum == bucket.checksum else None

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store the code of a newly compiled template."""
        if bucket.code is not None:
            self._compiled[bucket.key] = bucket.checksum, bucket.code


_COMPILED_TEMPLATES: Final = _CompiledTemplates()


class Templates:
    """The templates of one interface, compiled on first use."""

    def __init__(self, templates: PageTemplates) -> None:
        self._templates = templates

    def render(self, template: str, head: Head, **values: Any) -> bytes:
        """Render a page. Raises `jinja2.TemplateError` if the template is invalid."""
        # A lone surrogate in a value cannot be encoded as UTF-8, and must not break the page.
        return self._templates.render(template, head=head, **values).encode("utf-8", "replace")


class PageFrame:
    """Shared parts of a server's pages: frame, style sheet, script, error page and security policy.

    `origin` is the server's public origin, `root` the path of its public URL that prefixes every link (usually empty).

    Args:
        branding: the operator's names, URLs and colours.
        base_url: the server's public URL, without a trailing slash.
        file_origins: further origins that results are loaded from, such as the public URL of a bucket.
        offers_mcp: whether the server listens at the branding's `mcp_url`, so pages can mention it.
        offers_accounts: whether people can sign in, so every page links to the sign-in.
        offers_cards: whether public pages have a preview image for links, `card.png` below their URL.
        fonts: web fonts of the pages; without them pages use system fonts.
        replaced: the operator's templates, style sheet and files.
    """

    def __init__(
        self,
        branding: Branding,
        base_url: str,
        file_origins: Iterable[str] = (),
        *,
        offers_mcp: bool = True,
        offers_accounts: bool = True,
        offers_cards: bool = False,
        fonts: WebFonts | None = None,
        replaced: TemplateFolder | None = None,
    ) -> None:
        parts = urlsplit(base_url)
        self.branding = branding
        self.base_url = base_url
        self.origin = f"{parts.scheme}://{parts.netloc}"
        self.root = parts.path.rstrip("/")
        self.fonts = fonts
        self._replaced = replaced or TemplateFolder(BrandingSettings())
        self._assets = load_assets(branding, fonts.css if fonts else "", self._replaced)
        policy = partial(_security_policy, self.origin, branding.logo_url, tuple(file_origins))
        self.content_security_policy = policy()
        self.redirecting_security_policy = policy(form_action=False)
        self._globals = {
            "brand": branding,
            "brand_href": safe_link(branding.url),
            "docs_href": "" if branding.docs_url == f"{base_url}/tools" else safe_link(branding.docs_url),
            "offers_mcp": offers_mcp,
            "offers_accounts": offers_accounts,
            "offers_cards": offers_cards,
            "preloaded_fonts": [f"{self.root}{path}" for path in fonts.preloaded] if fonts else [],
            "root": self.root,
            "own_stylesheet": bool(self._replaced.stylesheet),
            "asset": self._asset_href,
            "light": LIGHT,
            "dark": DARK,
        }
        self._own_templates = self.templates(__package__ or "")

    def templates(self, package: str) -> Templates:
        """Return the templates in the `templates` folder of a package, which can extend `base.html` of this one."""
        folder = Path(str(files(package))) / "templates"
        options = TemplateOptions(
            globals=self._globals,
            filters={"code": _with_code, "paragraphs": _paragraphs, "json_script": _json_script},
            bytecode_cache=_COMPILED_TEMPLATES,
        )
        return Templates(self._replaced.of_host(tuple(dict.fromkeys((folder, FRAME_FOLDER))), options))

    def error(self, status: int, title: str, message: str, next_link: tuple[str, str] = ALL_TOOLS) -> bytes:
        """Render the page of an HTTP error, with an explanation and a link to continue.

        `next_link` is the path and the text of that link.
        """
        head = Head(f"{title} · {self.branding.name}", sentence(message))
        return self._own_templates.render("error.html", head, status=status, title=title, next_link=next_link)

    def public_page(self, title: str, fragment: str) -> bytes:
        """Render a public page for a single purpose. `fragment` is trusted HTML of a plugin."""
        head = Head(f"{title} · {self.branding.name}", title)
        return self._own_templates.render("public_page.html", head, body=Markup(fragment))  # noqa: S704 - a plugin's own HTML

    def asset(self, name: str) -> Asset:
        """Return a static file.

        Raises:
            NotFound: the file does not exist.
        """
        try:
            return self._assets[name]
        except KeyError:
            raise NotFound(f"there is no file {name}") from None

    def _asset_href(self, name: str) -> str:
        return f"{self.root}/tools/static/{name}?v={self._assets[name].version}"


def safe_link(url: str) -> str:
    """Return a URL that is safe in a link: http, https or a path of this site; otherwise an empty string."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return ""
    is_local_path = not parts.scheme and not parts.netloc and url.startswith("/") and "\\" not in url
    return url.strip() if is_local_path or (parts.scheme in ("http", "https") and parts.netloc) else ""


def capitalised(text: str) -> str:
    """Return a message with a capital letter, unless it begins with a parameter, URL, host name or file name.

    Examples: `redirect_uri: is missing`, `tea.png is not an image`.
    """
    return text if _LITERAL.match(text) else text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """Return a message as a sentence, with a capital letter and a full stop. See `capitalised`."""
    text = capitalised(text.strip())
    return text + ("" if text.endswith((".", "!", "?", "…")) else ".")


def _security_policy(origin: str, logo_url: str, file_origins: Iterable[str], *, form_action: bool = True) -> str:
    """Return the `Content-Security-Policy` of pages: nothing inline, and only images from other origins.

    Without `form_action`, forms can lead to a redirect to another site: Chromium also checks redirects after a form.
    """
    logo = urlsplit(logo_url)
    image_origins = [origin, *file_origins]
    if logo.scheme in ("http", "https") and logo.netloc:
        image_origins.append(f"{logo.scheme}://{logo.netloc}")
    rules = {
        "default-src": "'none'",
        "base-uri": "'none'",
        "connect-src": "'self'",
        "font-src": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "img-src": " ".join(["'self'", "data:", "blob:", *dict.fromkeys(image_origins)]),
        "manifest-src": "'self'",
        "script-src": "'self'",
        "style-src": "'self'",
        "require-trusted-types-for": "'script'",
    }
    if not form_action:
        del rules["form-action"]
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _with_code(text: str) -> Markup:
    """Return a text as HTML, with text between backticks as `<code>`."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped before the tags go in


def _paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text, which blank lines separate."""
    return [part for part in re.split(r"\n\s*\n", text.strip()) if part]


def _json_script(value: Any) -> Markup:
    """Return JSON that is safe inside a script element: it can neither end it nor open a comment."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - holds no character that HTML would act on
