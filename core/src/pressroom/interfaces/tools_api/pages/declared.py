"""What a page needs to know of a generator besides its descriptor, and the inputs that show what a choice looks like.

A page's descriptor has members beside those of the interface contract, section 2.10: `page`, with `gallery`, `modes`
(titles) and `snippets`, `sampleData`, a sample of the response's `data`, `extension`, that of its first media type, and
`mcpName`, its name for AI clients.
A parameter has the members of `pressroom.catalog.schema.form_parameters`, and `mode`, the number of its mode.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pressroom.catalog.schema import form_parameters
from pressroom.interfaces.tools_api.pages.forms import Descriptor
from pressroom.sdk import Generator


def page_descriptor(descriptor: Descriptor, generator: Generator) -> dict[str, Any]:
    """Return a generator's descriptor with what its page needs besides."""
    page = generator.page
    params = form_parameters(generator.params)
    for number, mode in enumerate(page.modes):
        for param in params:
            if param["name"] in mode.params:
                param["mode"] = number
    first, *others = descriptor["endpoints"]
    return {
        **descriptor,
        "endpoints": [{**first, "params": params}, *others],
        "page": {
            "gallery": page.gallery,
            "modes": [mode.title for mode in page.modes],
            "snippets": [{"title": one.title, "text": one.text, "note": one.note} for one in page.snippets],
        },
        "extension": generator.extension_of(generator.produces[0]),
        "mcpName": generator.mcp.name if generator.mcp else "",
        "sampleData": page.sample.model_dump(mode="json", by_alias=True) if page.sample else {},
    }


def with_choice(samples: Sequence[Mapping[str, Any]], path: Sequence[str], value: Any) -> dict[str, Any]:
    """Return a sample in which a parameter has that value.

    Args:
        samples: inputs of the generator; the first one that sets the parameter is taken, else the first one.
        path: the names that lead to the parameter: its own, or that of an object and that of its member.
        value: the value to show.
    """
    chosen = next((one for one in samples if _has(one, path)), samples[0])
    outer, *inner = path
    if not inner:
        return {**chosen, outer: value}
    members = chosen.get(outer)
    return {**chosen, outer: {**(members if isinstance(members, dict) else {}), inner[0]: value}}


def _has(values: Mapping[str, Any], path: Sequence[str]) -> bool:
    found: Any = values
    for name in path:
        if not isinstance(found, Mapping) or name not in found:
            return False
        found = found[name]
    return True
