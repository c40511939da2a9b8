"""Rendering of the pages `/tools` and `/tools/<slug>`, independent of the server.

`Pages` renders HTML from descriptors; `forms` converts posted forms to the input of the API.
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
