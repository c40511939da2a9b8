"""Fuzzing: documents generated from an HTML and CSS grammar produce an image or the documented error.

`PRESSROOM_TEST_FUZZ_EXAMPLES` sets the number of examples of each kind; the default takes less than a minute.
"""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pressroom.sdk import InvalidInput
from pressroom_image_generator.params import MAX_HTML_LENGTH, ImageParams
from pressroom_image_generator.preparation import WorkerInput
from pressroom_image_generator.rendering import MAX_WARNINGS, render
from pressroom_image_generator.templates import BUILT_IN, THEMES
from support.html_grammar import BROKEN_DOCUMENTS, DOCUMENTS, TEXTS
from support.sizes import rounds

EXAMPLES: Final = rounds("PRESSROOM_TEST_FUZZ_EXAMPLES", 100, soak=5000)
SIZES: Final = st.sampled_from([(200, 200), (200, 200), (320, 200), (1200, 630)])
fuzz = settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))

# A long search has no timeout.
pytestmark = pytest.mark.timeout(120 if EXAMPLES <= 1000 else 0)


def made(**body: object) -> None:
    """Render an image; the documented error is an acceptable outcome."""
    artifact, refusal = None, None
    try:
        artifact = render(ImageParams.model_validate(body), WorkerInput())
    except InvalidInput as error:
        refusal = error
    if artifact is None:
        assert refusal is not None
        assert refusal.field == "html"
        assert len(str(refusal)) < 1000
        return
    assert artifact.content.startswith(b"\x89PNG")
    assert len(artifact.warnings) <= MAX_WARNINGS + 1
    assert all(warning.isprintable() and len(warning) < 400 for warning in artifact.warnings)


@fuzz
@given(DOCUMENTS.map(lambda html: html[:MAX_HTML_LENGTH] or " "), SIZES)
def test_documents(html: str, size: tuple[int, int]) -> None:
    made(html=html, width=size[0], height=size[1])


@fuzz
@example(html='<div><p onclic\u202ek="">a control that turns the reading direction</p></div>')
@example(html='<p style="displ\u202eay:none">in the name of a property</p>')
@example(html=f'<p style="{"x" * 5000}:none">a name that has no end</p>')
@given(BROKEN_DOCUMENTS.map(lambda html: html[:MAX_HTML_LENGTH] or " "))
def test_broken_documents(html: str) -> None:
    made(html=html, width=200, height=200)


@settings(fuzz, max_examples=max(1, EXAMPLES // 5))
@given(
    template=st.sampled_from(sorted(BUILT_IN)),
    size=st.tuples(st.integers(200, 900), st.integers(200, 900)),
    props=st.fixed_dictionaries(
        {"theme": st.sampled_from(THEMES), "align": st.sampled_from(["left", "center"])},
        optional={
            "title": st.lists(TEXTS, max_size=8).map(lambda parts: " ".join(parts)[:200]),
            "subtitle": st.lists(TEXTS, max_size=12).map(lambda parts: " ".join(parts)[:300]),
            "eyebrow": TEXTS.map(lambda text: text[:60]),
            "author": TEXTS.map(lambda text: text[:80]),
            "siteName": TEXTS.map(lambda text: text[:60]),
            "accentColor": st.from_regex(r"#[0-9a-f]{6}([0-9a-f]{2})?", fullmatch=True),
            "logoUrl": st.sampled_from(
                ["data:image/png,", "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>"]
            ),
        },
    ),
)
def test_templates(template: str, size: tuple[int, int], props: dict[str, str]) -> None:
    made(template=template, width=size[0], height=size[1], props=props)
