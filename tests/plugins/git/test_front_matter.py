"""Front matter: round trips, and files written by other tools."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pressroom_content.contract import Post
from pressroom_git.bodies import body_of, body_read
from pressroom_git.front_matter import Format, Generator, fields_of, file_name, front_of, is_live, with_state
from pressroom_git.layout import SiteLayout
from pressroom_git.post_files import PostFile

TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufeff\u2028\u2029\ufffe\uffff"))
NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)


@given(
    title=TEXTS.filter(bool),
    tags=st.lists(TEXTS.filter(bool), max_size=4),
    generator=st.sampled_from(["hugo", "jekyll", "astro"]),
    form=st.sampled_from(["yaml", "toml"]),
    live=st.booleans(),
)
def test_what_goes_out_comes_back(title: str, tags: list[str], generator: Generator, form: Format, live: bool) -> None:
    post = Post("pr-0", title, "slug", "", "", excerpt=title, tags=tuple(tags))
    front = with_state(front_of(post, generator), generator, live=live, now=NOW)
    read = PostFile.of(PostFile.new(front, "body", form).content)
    fields = fields_of(read.front, generator)
    assert (fields["title"], fields["excerpt"], fields["tags"], read.form) == (title, title, tuple(tags), form)
    assert (is_live(read.front, generator), read.body) == (live, "body")


@given(st.text(max_size=300))
def test_a_body_comes_back_and_leaves_no_shortcode(text: str) -> None:
    post = Post("pr-0", "t", "s", "", text)
    body = body_of(post, "hugo", "content/posts/a.md")
    assert "{{<" not in body.replace("{{</*", "")
    assert "{{%" not in body.replace("{{%/*", "")
    body_read(body, "hugo")


@given(st.binary(max_size=400))
def test_whatever_lies_there_can_be_read(content: bytes) -> None:
    for head in (b"", b"---\n", b"+++\n"):
        read = PostFile.of(head + content)
        fields_of(read.front, "hugo")
        assert read.content == head + content


@pytest.mark.parametrize(
    "front",
    [
        "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b]\ntitle: [*c,*c,*c]",
        "title: !!python/object/apply:os.system [id]",
        "title: " + "[" * 20_000,
        "title: {a: {b: [1, {c: 2}]}}\ntags: {x: 1}\ndate: nonsense",
        "- a\n- list",
    ],
)
def test_hostile_front_matter_is_harmless(front: str) -> None:
    fields = fields_of(PostFile.of(f"---\n{front}\n---\nbody".encode()).front, "hugo")
    assert (fields["title"], fields["tags"]) == ("", ())


def test_each_generator_gets_its_own_field_names() -> None:
    post = Post(
        "pr-0", "T", "s", "", "", excerpt="E", meta_description="D", canonical_url="https://e.org", language="de"
    )
    fronts: dict[str, Any] = {}
    for generator in ("hugo", "jekyll", "astro"):
        front = with_state(front_of(post, generator), generator, live=False, now=NOW)
        fronts[generator] = yaml.safe_load(PostFile.new(front, "", "yaml").content.split(b"---")[1])
    assert (fronts["hugo"]["draft"], fronts["hugo"]["summary"], fronts["hugo"]["date"]) == (True, "E", NOW)
    assert (fronts["jekyll"]["published"], fronts["jekyll"]["excerpt"], fronts["jekyll"]["lang"]) == (False, "E", "de")
    assert (fronts["astro"]["draft"], fronts["astro"]["pubDate"], fronts["astro"]["description"]) == (True, NOW, "D")


@given(st.text(max_size=200))
def test_names_of_files_lead_nowhere(slug: str) -> None:
    name = file_name(slug, "pr-0")
    assert name
    assert len(name.encode()) <= 120
    assert not set(name) & set("/\\.\0\n: ")
    layout = SiteLayout.of({"generator": "jekyll"})
    assert layout.is_post(f"_posts/2026-11-20-{name}.md")
