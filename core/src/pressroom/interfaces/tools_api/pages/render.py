"""The pages of the tools: the list, a page for each, its form in sections, and its metadata for search engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from types import MappingProxyType
from typing import Any

from pressroom.errors import InvalidInput
from pressroom.http.page_frame import Head, PageFrame, clip
from pressroom.interfaces.tools_api.pages.fields import Field, build_field, label_of
from pressroom.interfaces.tools_api.pages.forms import (
    MODE,
    Descriptor,
    Form,
    FormState,
    Param,
    chosen_mode,
    first_endpoint,
    input_from_form,
    members_of,
)
from pressroom.interfaces.tools_api.pages.results import ResultView, problems_of, result_view
from pressroom.interfaces.tools_api.pages.samples import curl_command, curl_lead, response_sample, snippets
from pressroom.interfaces.tools_api.pages.views import ERRORS, LINK_LIFETIME, ToolView, tool_view
from pressroom.sdk import Branding, Preview


def index_head(branding: Branding, tools: Sequence[ToolView], origin: str, root: str) -> Head:
    """Return the head of the list of tools."""
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
    """Return the head of a tool's page. The title says so where the last attempt failed."""
    provider = {"@type": "Organization", "name": branding.name, "url": branding.url}
    address = origin + tool.href
    application = {
        "@type": ["WebApplication", "SoftwareApplication"],
        "@id": f"{address}#tool",
        "name": tool.name,
        "description": clip(tool.description, 500),
        "url": address,
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
            "documentation": address,
            "provider": provider,
        }
        for endpoint in tool.endpoints
    ]
    crumbs = {
        "@type": "BreadcrumbList",
        "itemListElement": [
            {"@type": "ListItem", "position": 1, "name": "Tools", "item": f"{origin}{root}/tools"},
            {"@type": "ListItem", "position": 2, "name": tool.name, "item": address},
        ],
    }
    return Head(
        title=f"{'Error: ' if failed else ''}{tool.name} · {branding.name}",
        description=clip(tool.summary),
        canonical=address,
        alternate=tool.descriptor_href,
        linked_data={"@context": "https://schema.org", "@graph": [application, *interfaces, crumbs]},
    )


@dataclass(frozen=True, slots=True)
class Group:
    """The fields of an object's members."""

    id: str
    name: str
    label: str
    help: str
    error: str
    fields: tuple[Field, ...]

    @property
    def described_by(self) -> str:
        """The ids of the texts that describe the group."""
        return " ".join(f"{self.id}-{part}" for part in ("help", "error") if getattr(self, part))


Item = Field | Group


@dataclass(frozen=True, slots=True)
class ModeView:
    """A mode with the fields that belong to it alone."""

    number: int
    title: str
    chosen: bool
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class FormView:
    """A form: its modes, if it has any, and what belongs to all of them."""

    modes: tuple[ModeView, ...]
    items: tuple[Item, ...]

    @property
    def is_rich(self) -> bool:
        """Whether it has more than plain fields: modes, groups, fields for code."""
        return bool(self.modes) or any(isinstance(item, Group) or item.code for item in self.items)


def build_form(params: Sequence[Param], modes: Sequence[str], form: Form, problems: Mapping[str, str]) -> FormView:
    """Return a form, in each of its parts the required fields first.

    Args:
        params: the parameters of the endpoint's descriptor.
        modes: the titles of the modes.
        form: texts to keep in the fields; a field without one shows its default.
        problems: what is wrong, by the parameter's name.
    """
    numbers = count(1)
    chosen = chosen_mode(params, form)

    def item(param: Param) -> Item:
        name = f"field-{next(numbers)}"
        members = members_of(param)
        if not members:
            return build_field(name, param, form, problems)
        return Group(
            id=name,
            name=param["name"],
            label=label_of(param["name"]),
            help=param.get("description") or "",
            error=problems.get(param["name"], ""),
            fields=tuple(build_field(f"field-{next(numbers)}", member, form, problems) for member in members),
        )

    shown = sorted(
        (param for param in params if param["name"] != "response"), key=lambda param: not param.get("required")
    )
    views = tuple(
        ModeView(number, title, number == chosen, tuple(item(param) for param in shown if param.get("mode") == number))
        for number, title in enumerate(modes)
    )
    return FormView(views, tuple(item(param) for param in shown if "mode" not in param))


class Pages:
    """Renders the pages of the tools of one server. Templates are compiled when they are used first.

    `previews` says how the pages show what was made, by the tool's slug; the others show images as they are.
    `pictures` holds the URLs of the examples' images, for the tools whose pages show them.
    """

    def __init__(
        self,
        site: PageFrame,
        previews: Mapping[str, Preview] = MappingProxyType({}),
        pictures: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> None:
        self.site = site
        self._previews = previews
        self._pictures = pictures
        self._templates = site.templates(__package__ or "")

    def index(self, descriptors: Sequence[Descriptor]) -> bytes:
        """Return the page that lists the tools, in the order given."""
        tools = [self._view(descriptor) for descriptor in descriptors]
        head = index_head(self.site.branding, tools, self.site.origin, self.site.root)
        return self._templates.render("index.html", head, tools=tools)

    def tool(self, descriptor: Descriptor, state: FormState | None = None) -> bytes:
        """Return a tool's page, with the form as `state` left it and with what came of the call."""
        state = state or FormState.at_first(descriptor)
        endpoint = first_endpoint(descriptor)
        params = endpoint.get("params", ())
        tool = self._view(descriptor)
        problems = problems_of(params, state.answer)
        result = result_view(tool, state.answer, state.preview_url)
        failed = result is not None and not result.url
        page = descriptor.get("page") or {}
        chosen = tool.examples[state.example] if state.example is not None and tool.examples else None
        return self._templates.render(
            "tool.html",
            tool_head(self.site.branding, tool, self.site.origin, self.site.root, failed=failed),
            tool=tool,
            form=build_form(params, page.get("modes", ()), state.form, problems),
            mode_field=MODE,
            has_gallery=any(example.picture for example in tool.examples),
            chosen=chosen,
            result=result,
            blank=ResultView(),
            preview=self._previews.get(tool.slug, Preview()),
            curl=curl_command(tool.endpoints[0].url, _request(endpoint, state)) if tool.endpoints else "",
            curl_lead=curl_lead(tool.endpoints[0].url) if tool.endpoints else "",
            response=response_sample(descriptor, self.site.branding, self.site.base_url, state.answer)
            if tool.endpoints
            else "",
            snippets=snippets(descriptor, self.site.branding, self.site.base_url, state.answer),
            errors=ERRORS,
            link_lifetime=LINK_LIFETIME,
        )

    def _view(self, descriptor: Descriptor) -> ToolView:
        return tool_view(descriptor, self.site.base_url, self.site.root, self._pictures.get(descriptor["slug"], ()))


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
