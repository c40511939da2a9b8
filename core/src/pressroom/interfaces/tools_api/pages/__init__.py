"""The pages for people, `/tools` and `/tools/<slug>`: rendering alone, without a server.

`Pages` makes HTML from descriptors; `forms` turns what people post into the input that the API would get.
"""

from pressroom.interfaces.tools_api.pages.declared import page_descriptor
from pressroom.interfaces.tools_api.pages.forms import Descriptor, Form, FormState, input_from_form, parse_form
from pressroom.interfaces.tools_api.pages.render import OfferedService, Pages

__all__ = [
    "Descriptor",
    "Form",
    "FormState",
    "OfferedService",
    "Pages",
    "input_from_form",
    "page_descriptor",
    "parse_form",
]
