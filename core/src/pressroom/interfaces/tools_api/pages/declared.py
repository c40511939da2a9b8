"""What a page needs to know of a generator besides its descriptor.

A page's descriptor has members beside those of the interface contract, section 2.10: `page`, with `gallery`, `modes`
(titles) and `snippets`, `sampleData`, a sample of the response's `data`, `extension`, that of its first media type, and
`mcpName`, its name for AI clients.
A parameter has the members of `pressroom.catalog.schema.form_parameters`, and `mode`, the number of its mode.
"""

from __future__ import annotations

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
