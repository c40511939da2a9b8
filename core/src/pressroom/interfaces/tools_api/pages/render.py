"""The pages of the tools: the list, and a page for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pressroom.errors import InvalidInput
from pressroom.http.page_frame import PageFrame
from pressroom.interfaces.tools_api.pages.forms import MODE, Descriptor, FormState, first_endpoint, input_from_form
from pressroom.interfaces.tools_api.pages.metadata import index_head, tool_head
from pressroom.interfaces.tools_api.pages.results import ResultView, problems_of, result_view
from pressroom.interfaces.tools_api.pages.samples import curl_command, curl_lead, response_sample, snippets
from pressroom.interfaces.tools_api.pages.sections import build_form
from pressroom.interfaces.tools_api.pages.views import ERRORS, LINK_LIFETIME, ToolView, tool_view
from pressroom.sdk import Preview


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
