"""Tool pages: the list of tools, and a page for each tool, with metadata for search engines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlencode

from pressroom.errors import InvalidInput
from pressroom.http.page_frame import Head, PageFrame, clip
from pressroom.interfaces.tools_api.pages.form_view import build_form
from pressroom.interfaces.tools_api.pages.forms import (
    MODE,
    Descriptor,
    Form,
    FormState,
    Param,
    first_endpoint,
    form_params,
    input_from_form,
)
from pressroom.interfaces.tools_api.pages.results import IMAGES, ResultView, problems_of, result_view
from pressroom.interfaces.tools_api.pages.samples import code_samples, permanent_texts, response_sample, snippets
from pressroom.interfaces.tools_api.pages.views import (
    ERRORS,
    LINK_LIFETIME,
    MEDIUM,
    ImageUrls,
    ToolView,
    editable_json,
    tool_view,
)
from pressroom.sdk import Branding, EditableText, Preview

_FILE: Final = "data:"
_MAX_SHOWN_FILE: Final = 1000


def index_head(branding: Branding, tools: Sequence[ToolView], origin: str, root: str) -> Head:
    """Return the head of the page that lists the tools."""
    names = ", ".join(tool.name for tool in tools)
    return Head(
        title=f"Tools · {branding.name}",
        description=clip(f"{branding.tagline} {names}." if names else branding.tagline),
        canonical=f"{origin}{root}/tools",
        alternate=f"{root}/tools/api",
        linked_data={
            "@context": "https://schema.org",
            "@type": "CollectionPage",
            "name": f"{branding.name} tools",
            "description": branding.tagline,
            "url": f"{origin}{root}/tools",
            "hasPart": [
                {"@type": "WebApplication", "name": tool.name, "url": origin + tool.href, "description": tool.summary}
                for tool in tools
            ],
        },
    )


def tool_head(branding: Branding, tool: ToolView, origin: str, root: str, *, failed: bool) -> Head:
    """Return the head of a tool's page. With `failed`, the title reports an error."""
    provider = {"@type": "Organization", "name": branding.name, "url": branding.url}
    url = origin + tool.href
    application = {
        "@type": ["WebApplication", "SoftwareApplication"],
        "@id": f"{url}#tool",
        "name": tool.name,
        "description": clip(tool.description, 500),
        "url": url,
        "applicationCategory": "UtilitiesApplication",
        "operatingSystem": "Any",
        "isAccessibleForFree": True,
        "keywords": list(tool.tags),
        "provider": provider,
    }
    interfaces = [
        {
            "@type": "WebAPI",
            "name": f"{tool.name} API",
            "description": endpoint.summary or tool.summary,
            "url": endpoint.url,
            "documentation": url,
            "provider": provider,
        }
        for endpoint in tool.endpoints
    ]
    crumbs = {
        "@type": "BreadcrumbList",
        "itemListElement": [
            {"@type": "ListItem", "position": 1, "name": "Tools", "item": f"{origin}{root}/tools"},
            {"@type": "ListItem", "position": 2, "name": tool.name, "item": url},
        ],
    }
    return Head(
        title=f"{'Error: ' if failed else ''}{tool.name} · {branding.name}",
        description=clip(tool.summary),
        canonical=url,
        alternate=tool.descriptor_href,
        linked_data={"@context": "https://schema.org", "@graph": [application, *interfaces, crumbs]},
    )


@dataclass(frozen=True, slots=True)
class OfferedService:
    """A service for people and AI clients with an account: the title and summary of a plugin."""

    title: str
    summary: str


class Pages:
    """Renders the tool pages of one server. Templates are compiled on first use.

    `previews` defines by slug how pages show results; without one, images are shown as they are. `images` holds the
    image URLs of tools that create images, whose pages have a canvas. `image_links` is whether the server offers
    permanent image URLs.
    """

    def __init__(
        self,
        site: PageFrame,
        previews: Mapping[str, Preview] = MappingProxyType({}),
        images: Mapping[str, ImageUrls] = MappingProxyType({}),
        *,
        image_links: bool = False,
    ) -> None:
        self.site = site
        self._previews = previews
        self._images = images
        self._image_links = image_links
        self._templates = site.templates(__package__ or "")

    def index(self, descriptors: Sequence[Descriptor], services: Sequence[OfferedService] = ()) -> bytes:
        """Render the list of tools in the given order, and the services for accounts."""
        tools = [self._view(descriptor) for descriptor in descriptors]
        head = index_head(self.site.branding, tools, self.site.origin, self.site.root)
        return self._templates.render("index.html", head, tools=tools, services=services)

    def tool(
        self,
        descriptor: Descriptor,
        state: FormState | None = None,
        canvas_size: tuple[int, int] | None = None,
        editable: EditableText | None = None,
    ) -> bytes:
        """Render a tool's page, with the form and the result of the call in `state`.

        `canvas_size` is the size of the first example's image in pixels, if known, so that the page can reserve space
        for it. `editable` locates a parameter's text in that image.
        """
        state = state or FormState.at_first(descriptor)
        endpoint = first_endpoint(descriptor)
        params = endpoint.get("params", ())
        tool = self._view(descriptor)
        problems = problems_of(params, state.response)
        result = result_view(tool, state.response, state.preview_url, title_in(params, state.form), params)
        failed = result is not None and not result.url
        page = descriptor.get("page") or {}
        images = self._images.get(tool.slug)
        has_permanent_url = self._image_links and (descriptor.get("extension") or "") in IMAGES
        samples = (
            code_samples(
                tool.endpoints[0].url, descriptor.get("mcpName", ""), self.site.branding, _request(descriptor, state)
            )
            if tool.endpoints
            else []
        )
        return self._templates.render(
            "tool.html",
            tool_head(self.site.branding, tool, self.site.origin, self.site.root, failed=failed),
            tool=tool,
            form=build_form(params, page, state.form, problems, _absolute(tool.href, images)),
            mode_field=MODE,
            case_samples=json.dumps(page["samples"], ensure_ascii=False) if page.get("samples") else "",
            markup=_markup(descriptor.get("sampleData") or {}),
            has_canvas=images is not None,
            canvas=canvas_image(tool, state, result, canvas_size) if images is not None else CanvasImage(""),
            is_refused=bool(problems),
            editable=editable_json(editable) if editable else "",
            result=result,
            preview=self._previews.get(tool.slug, Preview()),
            samples=samples,
            extension=descriptor.get("extension") or "",
            response=response_sample(descriptor, self.site.branding, self.site.base_url, state.response)
            if tool.endpoints
            else "",
            snippets=snippets(
                descriptor,
                self.site.branding,
                self.site.base_url,
                state.response,
                state.permanent_url if has_permanent_url else None,
            ),
            permanent=permanent_texts(
                descriptor,
                (state.response or {}).get("data") or {},
                state.permanent_url,
                title_in(params, state.form),
            )
            if has_permanent_url
            else (),
            permanent_url=state.permanent_url,
            errors=ERRORS,
            link_lifetime=LINK_LIFETIME,
        )

    def _view(self, descriptor: Descriptor) -> ToolView:
        slug = descriptor["slug"]
        view = tool_view(descriptor, self.site.base_url, self.site.root, self._images.get(slug, ImageUrls()))
        return replace(view, icons=self._previews.get(slug, Preview()).kind == "icons")


def title_in(params: Sequence[Param], form: Form) -> str:
    """Return the title in a form, which the file is named after, or an empty string."""
    for param in form_params(params):
        if param.get("path", (param["name"],))[-1] == "title":
            return form.get(param["name"], [str(param.get("default") or "")])[-1]
    return ""


@dataclass(frozen=True, slots=True)
class CanvasImage:
    """The initial image of a tool's page.

    `width` and `height` are 0 if unknown. `sources` is its `srcset`, or empty if it has only one size.
    """

    url: str
    width: int = 0
    height: int = 0
    sources: str = ""


def canvas_image(
    tool: ToolView, state: FormState, result: ResultView | None, first_size: tuple[int, int] | None
) -> CanvasImage:
    """Return the initial image of the page. `first_size` is the size of the first example's image, if known."""
    if result is not None and result.image_url:
        return CanvasImage(result.image_url, result.width or 0, result.height or 0)
    if state.example == 0 and tool.canvas:
        if first_size is None:
            return CanvasImage(tool.canvas)
        (width, height), (max_width, max_height) = first_size, MEDIUM
        share = min(1.0, max_width / width, max_height / height)
        sources = f"{tool.canvas_medium} {round(width * share)}w, {tool.canvas} {width}w"
        return CanvasImage(tool.canvas, width, height, sources if share < 1 and tool.canvas_medium else "")
    fields = [
        (name, text)
        for name, texts in state.form.items()
        for text in texts[-1:]
        if text and not text.startswith(_FILE)  # a file is too long for a URL
    ]
    return CanvasImage(f"{tool.href}/preview?{urlencode(fields)}" if fields else "")


def _markup(data: Mapping[str, Any]) -> bool:
    """Return whether a generator's sample data has a member that is HTML."""
    return any(isinstance(value, str) and value.lstrip().startswith("<") for value in data.values())


def _absolute(href: str, images: ImageUrls | None) -> Mapping[str, Mapping[str, str]]:
    choices = images.choices if images else {}
    return {name: {value: f"{href}/{url}" for value, url in urls.items()} for name, urls in choices.items()}


def _shortened(text: str) -> str:
    """Return a text for code examples, with the content of large files truncated."""
    return f"{text[:60]}…" if text.startswith(_FILE) and len(text) > _MAX_SHOWN_FILE else text


def _request(descriptor: Descriptor, state: FormState) -> Mapping[str, Any]:
    """Return the input for the code examples: that of the form, or else of the first example."""
    endpoint = first_endpoint(descriptor)
    params = endpoint.get("params", ())
    if state.form:
        form = {name: [_shortened(text) for text in texts] for name, texts in state.form.items()}
        try:
            return input_from_form(params, form, (descriptor.get("page") or {}).get("switch", ""))
        except InvalidInput:
            pass  # the page reports the error, and the code samples show an example instead
    examples = endpoint.get("examples") or ()
    if examples:
        example_params: Mapping[str, Any] = examples[0]["params"]
        return example_params
    return {param["name"]: param.get("example", "…") for param in params if param.get("required")}
