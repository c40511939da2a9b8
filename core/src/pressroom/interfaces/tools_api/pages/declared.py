"""Page descriptors: a generator's descriptor with the additional data for its page, and inputs that show choices.

Beyond the interface contract, section 2.10, a page's descriptor has `page`, with `gallery`, `modes` (titles), `switch`,
`samples`, `sections` and `snippets`; `sampleData`, a sample of the response's `data`; `extension`, that of its first
media type; and `mcpName`, its name for AI clients. A parameter has the members of
`pressroom.catalog.schema.form_parameters`, and `mode`, the number of its mode. The generator's `Page` sets `label`,
`labels` (by the number of a case), `valueTitles`, `files` and `fileUrls`. A case is numbered by the index of its value,
and `cases` lists the cases that a parameter belongs to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pressroom.catalog.schema import form_parameters
from pressroom.interfaces.tools_api.pages.forms import Descriptor
from pressroom.sdk import FormCase, Generator, Page


def page_descriptor(descriptor: Descriptor, generator: Generator) -> dict[str, Any]:
    """Return a generator's descriptor with the additional data for its page."""
    page = generator.page
    params = form_parameters(generator.params)
    for number, mode in enumerate(page.modes):
        for param in params:
            if param["name"] in mode.params:
                param["mode"] = number
    _describe_fields(params, page)
    first, *other_endpoints = descriptor["endpoints"]
    return {
        **descriptor,
        "endpoints": [{**first, "params": params}, *other_endpoints],
        "page": {
            "gallery": page.gallery,
            "modes": [mode.title for mode in page.modes],
            "switch": page.switch,
            "samples": {number: dict(case.sample) for number, case in _numbered(params, page)},
            "sections": [
                {"title": section.title, "params": list(section.params), "open": section.open}
                for section in page.sections
            ],
            "snippets": [
                {"title": snippet.title, "text": snippet.text, "note": snippet.note} for snippet in page.snippets
            ],
        },
        "extension": generator.extension_of(generator.produces[0]),
        "mcpName": generator.mcp.name if generator.mcp else "",
        "sampleData": page.sample.model_dump(mode="json", by_alias=True) if page.sample else {},
    }


def _describe_fields(params: list[dict[str, Any]], page: Page) -> None:
    """Add the page's declarations about fields to the parameters, in place."""
    by_name = dict(_by_path(params))
    for name, label in page.labels.items():
        by_name[name]["label"] = label
    for name, titles in page.values.items():
        by_name[name]["valueTitles"] = dict(titles)
    for file_field in page.files:
        by_name[file_field.param].update(files=list(file_field.media_types), fileUrls=file_field.urls)
    for number, case in _numbered(params, page):
        titles = by_name[page.switch].setdefault("valueTitles", {})
        titles[case.value] = case.title
        for name in case.params:
            by_name[name].setdefault("cases", []).append(number)
        for name, label in case.labels.items():
            by_name[name].setdefault("labels", {})[number] = label


def _numbered(params: Sequence[Mapping[str, Any]], page: Page) -> Iterator[tuple[int, FormCase]]:
    """Yield the cases with the index of their value."""
    if not page.switch:
        return
    values = dict(_by_path(params))[page.switch]["enumValues"]
    for case in page.cases:
        if case.value in values:
            yield values.index(case.value), case


def _by_path(params: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    for param in params:
        yield param["name"], param
        yield from ((f"{param['name']}.{member['name']}", member) for member in param.get("members", ()))


def with_choice(samples: Sequence[Mapping[str, Any]], path: Sequence[str], value: Any) -> dict[str, Any]:
    """Return a sample in which a parameter has that value.

    Args:
        samples: inputs of the generator; the first one that sets the parameter is used, or else the first.
        path: the name of the parameter, or that of an object and of its member.
        value: the value to show.
    """
    base = next((sample for sample in samples if _has(sample, path)), samples[0])
    outer, *inner = path
    if not inner:
        return {**base, outer: value}
    members = base.get(outer)
    return {**base, outer: {**(members if isinstance(members, dict) else {}), inner[0]: value}}


def _has(values: Mapping[str, Any], path: Sequence[str]) -> bool:
    current: Any = values
    for name in path:
        if not isinstance(current, Mapping) or name not in current:
            return False
        current = current[name]
    return True
