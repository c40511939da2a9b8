"""What the pages of this plugin have in common."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from pressroom.sdk import HttpRequest, HttpResponse, PluginContext

WEBSITES = "/dashboard/websites"


def root_of(plugin: PluginContext) -> str:
    """Return the path that is before every path of this server; mostly empty."""
    return urlsplit(plugin.base_url).path.rstrip("/")


def form_of(request: HttpRequest) -> Mapping[str, str]:
    """Return the fields of a posted form; of one that came several times, the last."""
    fields = parse_qs(request.body.decode("utf-8", "replace"), keep_blank_values=True)
    return {name: values[-1].replace("\0", "") for name, values in fields.items()}


def fragment(
    template: str, plugin: PluginContext, request: HttpRequest, *, status: int = 200, **values: Any
) -> HttpResponse:
    """Return a part of a page, for the frame of the dashboard."""
    values |= {"root": root_of(plugin), "token": request.csrf_token}
    text = template_of(template).render(values)
    return HttpResponse(text.encode("utf-8", "replace"), status, headers={"Cache-Control": "no-store"})


def template_of(name: str) -> Template:
    """Return a template of these pages."""
    return _templates().get_template(name)


def see_other(plugin: PluginContext, path: str) -> HttpResponse:
    """Return a redirect to a path of this server, which is followed with GET."""
    return HttpResponse(b"", 303, headers={"Location": root_of(plugin) + path})


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
