"""Template expansion: the HTML shows the props, and nothing else."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import TemplateError
from pressroom_image_generator.params import TemplateProps
from pressroom_image_generator.rendering import expand
from pressroom_image_generator.templates import BUILT_IN, FOLDER, THEMES, ImageTemplate, Size
from support.sizes import examples

LOGO = "data:image/png;base64,bG9nbw=="
COVER = "https://example.com/cover.jpg?a=1&b=2"
FACE = "https://example.com/face.webp"

DRAWING = {"viewbox", "d", "fill", "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin"}
"""Attributes in the templates' own drawings."""


class _Seen(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.tags: list[str] = []
        self.sources: list[str] = []
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.sources += [value or "" for name, value in attrs if name == "src"]

    def handle_data(self, data: str) -> None:
        self.text += data


def seen(template: str, props: TemplateProps, size: Size | None = None) -> _Seen:
    natural = BUILT_IN[template]
    parser = _Seen()
    parser.feed(expand(FOLDER / template, props, size or natural, natural))
    return parser


def words(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("template", BUILT_IN)
def test_all_given_props_are_shown(template: str, theme: str) -> None:
    props = TemplateProps.model_validate(
        {
            "title": "Tom & Jerry's <b>title</b>",
            "subtitle": "A subtitle",
            "eyebrow": "News",
            "author": "Ada",
            "siteName": "example.com",
            "logoUrl": LOGO,
            "imageUrl": COVER,
            "avatarUrl": FACE,
            "theme": theme,
        }
    )
    expanded = seen(template, props)
    for text in (props.title, props.subtitle, props.eyebrow, props.author, props.siteName):
        assert words(text) in words(expanded.text)
    assert sorted(expanded.sources) == sorted([LOGO, COVER, FACE])
    assert set(expanded.tags) <= {"div", "img", "svg", "path"}
    assert expanded.attributes - DRAWING == {"style", "src"}


@pytest.mark.parametrize("template", BUILT_IN)
@pytest.mark.parametrize("prop", ["title", "subtitle", "eyebrow", "author", "siteName"])
def test_a_single_text_is_used_as_the_title(template: str, prop: str) -> None:
    alone = seen(template, TemplateProps.model_validate({prop: "Only this"}))
    titled = seen(template, TemplateProps(title="Only this"))
    assert (alone.text, alone.tags) == (titled.text, titled.tags)


@pytest.mark.parametrize("template", BUILT_IN)
def test_empty_props_result_in_an_image(template: str) -> None:
    expanded = seen(template, TemplateProps())
    assert not expanded.text.strip()
    assert "img" not in expanded.tags


@pytest.mark.parametrize("template", BUILT_IN)
def test_props_are_escaped_and_never_executed(template: str) -> None:
    title = "{{ 7 * 7 }} {% raw %} \"'><img src=https://example.com/x onerror=y>"
    expanded = seen(template, TemplateProps(title=title, logoUrl='data:image/png,"><script>'))
    assert words(title) in words(expanded.text)
    assert expanded.sources == ['data:image/png,"><script>']
    assert set(expanded.tags) <= {"div", "img", "svg", "path"}


@settings(max_examples=examples(25))
@given(
    template=st.sampled_from(sorted(BUILT_IN)),
    width=st.integers(200, 2400),
    height=st.integers(200, 2400),
    title=st.text(max_size=200).map(lambda text: " ".join(text.split())),
)
def test_every_size_and_title_works(template: str, width: int, height: int, title: str) -> None:
    props = TemplateProps(title=title, subtitle="A subtitle", author="Ada", siteName="example.com", theme="dark")
    found = seen(template, props, Size(width, height))
    assert found.tags[0] == "div"


def test_a_template_of_another_plugin_is_expanded(tmp_path: Path) -> None:
    (tmp_path / "template.html").write_text(
        "{% from 'parts.html' import text %}<p>{{ props.title }} {{ px(10) }} {{ colors.text }}</p>"
        "{{ text(one_line(props.author, 100, 20), colors.muted) }}"
    )
    template = ImageTemplate("poster", "A poster", 1000, 500, tmp_path)
    html = expand(template.folder, TemplateProps(title="<A>", author="Ada"), Size(500, 250), template.size)
    assert "<p>&lt;A&gt; 5.00px #" in html
    assert "Ada" in html


def test_a_template_cannot_access_python_internals(tmp_path: Path) -> None:
    (tmp_path / "template.html").write_text("{{ px.__globals__ }}{{ ''.__class__.__mro__ }}")
    with pytest.raises(TemplateError):
        expand(tmp_path, TemplateProps(), Size(500, 250), Size(500, 250))


@pytest.mark.parametrize(
    ("name", "width", "words"), [("og", 500, "no built-in"), ("A b", 500, "lower-case"), ("a", 100, "between 200")]
)
def test_an_invalid_template_is_refused(tmp_path: Path, name: str, width: int, words: str) -> None:
    (tmp_path / "template.html").touch()
    with pytest.raises(ValueError, match=words):
        ImageTemplate(name, "A", width, 500, tmp_path)


def test_a_template_needs_its_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"holds no template\.html"):
        ImageTemplate("a", "A", 500, 500, tmp_path)
