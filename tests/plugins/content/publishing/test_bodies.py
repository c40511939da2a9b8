"""Block-level merging of bodies: unchanged blocks stay byte for byte, and both sides' changes are merged."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom_content.publishing.bodies import BodySegment, SiteBody, compose, joined_text, read_body, remembered
from pressroom_content.publishing.merged_fields import Side
from pressroom_content.publishing.site_edits import diff_of, merge
from pressroom_content.rendering.pieces import BodyPiece, pieces_of
from support.standin_plugin import BlockCodec

CODEC = BlockCodec()
RAW = (
    '<p style="color:red">One</p>\n\n<ul><li>a</li></ul>\n\n<ul><li>b</li></ul>\n\n[gallery 1, 2]\n\n\n\n'
    "<p>Two <em>words</em>.</p>\n\n[form 7]\n\n[form 7]\n\n<pre><code>x  =  1\n</code></pre>\n\n<p>Three"
)

BLOCKS = st.sampled_from(
    [
        "<p>One</p>", "<p>Two</p>", "<ul><li>a</li></ul>", "<ol><li>1</li></ol>", "[gallery 1]", "[form 2]",
        "<h2>H</h2>", "<p></p>", "<p style='color:red'>Red</p>", "<div>", "</div>", "<table><tr><td>1</table>",
        "<!-- c -->", "a < b & c", "<pre>a\n b</pre>", "* star", "1. not a list", "# none",
        "<details><summary>s</summary>t", "[", "`", "\\",
    ]
)  # fmt: skip
BODIES = st.lists(BLOCKS, max_size=12).map("\n\n".join)


def text_of(body: SiteBody) -> str:
    return joined_text([segment.text for segment in body.segments if segment.text])


def pieces(text: str) -> list[BodyPiece]:
    return list(pieces_of(text, "markdown"))


def sent(known: SiteBody, text: str) -> str:
    return compose(known, pieces(text), CODEC).body.raw


@pytest.mark.parametrize("raw", [RAW, "", "\n\n", "<p>x</p>", "[gallery]", "<div>\n\n<p>x</p>\n\n</div>"])
def test_an_unchanged_body_is_sent_unchanged(raw: str) -> None:
    body = read_body(raw, CODEC)
    assert sent(body, text_of(body)) == raw


@given(BODIES)
def test_any_body_that_nobody_changed_is_sent_as_it_was(raw: str) -> None:
    body = read_body(raw, CODEC)
    made = compose(body, pieces(text_of(body)), CODEC)
    assert (made.body.raw, made.lost) == (raw, ())


@given(BODIES, st.integers(0, 11))
def test_a_paragraph_that_is_added_leaves_every_block_as_it_was(raw: str, at: int) -> None:
    body = read_body(raw, CODEC)
    texts = [one.text for one in body.segments if one.text]
    texts.insert(min(at, len(texts)), "A new paragraph.")
    made = sent(body, joined_text(texts))
    assert made.count("<p>A new paragraph.</p>") == 1
    end = 0
    for segment in body.segments:
        for source in segment.sources:
            end = made.index(source.rstrip("\n"), end)


def test_the_placeholder_of_a_non_editable_block_can_be_moved() -> None:
    body = read_body(RAW, CODEC)
    texts = [segment.text for segment in body.segments]
    assert texts[3].startswith("<!-- block:")
    assert "gallery" in texts[3]
    texts.insert(0, texts.pop(3))
    assert sent(body, joined_text(texts)).startswith("[gallery 1, 2]\n\n\n\n<p style")


def test_a_block_whose_placeholder_was_removed_is_reported() -> None:
    body = read_body(RAW, CODEC)
    composed = compose(body, pieces("Only this."), CODEC)
    assert composed.body.raw == "<!-- made here --><p>Only this.</p>\n\n"
    assert composed.lost == ("gallery", "form", "form")


def test_a_placeholder_from_another_post_is_ignored() -> None:
    body = read_body("<p>x</p>", CODEC)
    assert sent(body, "x\n\n<!-- block:deadbeef gallery; it stays -->\n") == "<p>x</p>"


def test_only_changed_blocks_are_rewritten() -> None:
    body = read_body(RAW, CODEC)
    result = sent(body, text_of(body).replace("Two *words*.", "Two **other** words."))
    assert result == RAW.replace(
        "<p>Two <em>words</em>.</p>", "<!-- made here --><p>Two <strong>other</strong> words.</p>"
    ).replace("<p>Three", "<p>Three\n\n")


@pytest.mark.parametrize("ending", ["\n\n", "  \n\n\n"])
def test_an_edit_preserves_adjacent_empty_blocks_and_white_space(ending: str) -> None:
    raw = f"<p></p>\n\n<p></p>\n\n<p>One</p>\n\n\n\n<p></p>\n\n<p>Two</p>\n\n<p></p>\n\n<p>Three</p>{ending}"
    body = read_body(raw, CODEC)
    edited = {"One": "First", "Two": "Second", "Three": "Third"}
    text, expected = text_of(body), raw
    for old, new in edited.items():
        text, expected = text.replace(old, new), expected.replace(f"<p>{old}", f"<!-- made here --><p>{new}")
    assert sent(body, text) == expected


def test_an_inserted_paragraph_preserves_adjacent_empty_blocks() -> None:
    raw = "<p></p>\n\n<p>One</p>\n\n<p></p>\n\n[gallery 1]\n\n"
    body = read_body(raw, CODEC)
    assert sent(body, text_of(body).replace("One", "First\n\nSecond")) == (
        "<p></p>\n\n<!-- made here --><p>First</p>\n\n<!-- made here --><p>Second</p>\n\n<p></p>\n\n[gallery 1]\n\n"
    )


def test_white_space_in_code_is_significant() -> None:
    body = read_body(RAW, CODEC)
    assert "x = 1" in sent(body, text_of(body).replace("x  =  1", "x = 1"))


def test_a_body_rewritten_by_the_platform_becomes_the_new_base() -> None:
    first = compose(None, pieces("# One\n\nTwo\n\n- three\n"), CODEC).body
    stored = first.raw.replace("<p>Two</p>", '<p class="is-ours">Two</p>')
    known = remembered(first, stored, CODEC)
    assert known.raw == stored
    assert sent(known, "# One\n\nTwo\n\n- three\n") == stored
    assert sent(known, "# One\n\nTwo\n\n- four\n").startswith(stored[: stored.index("<ul>")])


def test_a_body_survives_storage() -> None:
    body = read_body(RAW, CODEC)
    assert SiteBody.of(body.raw, body.stored()) == body
    assert pickle.loads(pickle.dumps(CODEC)).split(RAW)


def merged(ours: str, theirs: str, choices: dict[int, Side] | None = None) -> tuple[str, list[tuple[str, str]]]:
    known, site = read_body(RAW, CODEC), read_body(theirs, CODEC)
    result = merge(known, site, pieces(ours), choices or {})
    return sent(site, result.text), [(conflict.article.strip(), conflict.site.strip()) for conflict in result.conflicts]


def test_edits_of_different_blocks_are_both_applied() -> None:
    ours = text_of(read_body(RAW, CODEC)).replace("Two *words*.", "Two new words.").replace("\n- b\n", "\n- b\n- c\n")
    theirs = RAW.replace("One", "ONE").replace("[gallery 1, 2]", "[gallery 1, 2, 3]\n\n<p>Below</p>")
    result, conflicts = merged(ours, theirs)
    assert conflicts == []
    assert '<p style="color:red">ONE</p>\n\n<ul><li>a</li></ul>\n\n' in result
    assert "[gallery 1, 2, 3]\n\n<p>Below</p>\n\n" in result
    assert "Two new words." in result
    assert "<li>c</li>" in result
    assert result.count("[form 7]") == 2


def test_adjacent_blocks_are_merged_separately() -> None:
    ours = text_of(read_body(RAW, CODEC)).replace("One", "Eins")
    result, conflicts = merged(ours, RAW.replace("<li>a</li>", "<li>A</li>"))
    assert (conflicts, "Eins" in result, "<li>A</li>" in result) == ([], True, True)


@pytest.mark.parametrize(
    ("choice", "there", "gone"),
    [("article", ["Eins"], ["Uno"]), ("site", ["Uno"], ["Eins"]), ("both", ["Uno", "Eins"], [])],
)
def test_a_block_changed_on_both_sides_is_resolved_by_the_caller(
    choice: Side, there: list[str], gone: list[str]
) -> None:
    ours, theirs = text_of(read_body(RAW, CODEC)).replace("One", "Eins"), RAW.replace("One", "Uno")
    _, conflicts = merged(ours, theirs)
    assert conflicts == [("Eins", "Uno")]
    result, conflicts = merged(ours, theirs, {1: choice})
    assert conflicts == []
    assert all(text in result for text in there)
    assert not any(text in result for text in gone)


def test_the_same_change_on_both_sides_is_not_a_conflict() -> None:
    ours = text_of(read_body(RAW, CODEC)).replace("One", "Uno")
    result, conflicts = merged(ours, RAW.replace("One", "Uno"))
    assert (conflicts, result) == ([], RAW.replace("One", "Uno"))


def test_a_block_removed_on_one_side_and_changed_on_the_other_is_a_conflict() -> None:
    theirs = RAW.replace("<p>Two <em>words</em>.</p>\n\n", "")
    ours = text_of(read_body(RAW, CODEC)).replace("Two *words*.", "Two!")
    assert merged(ours, theirs)[1] == [("Two!", "")]


def test_edits_are_shown_as_a_diff() -> None:
    diff = diff_of(read_body(RAW, CODEC), read_body(RAW.replace("One", "Uno"), CODEC))
    assert "-One\n+Uno" in diff
    assert "form" not in diff


@given(BODIES, BODIES)
def test_an_article_that_nobody_changed_becomes_what_the_site_has(before: str, after: str) -> None:
    known, site = read_body(before, CODEC), read_body(after, CODEC)
    done = merge(known, site, pieces(text_of(known)), {})
    assert done.conflicts == ()
    assert sent(site, done.text) == after


@given(BODIES, BODIES)
def test_a_site_that_nobody_edited_leaves_the_article_as_it_is(before: str, after: str) -> None:
    known, article = read_body(before, CODEC), pieces(text_of(read_body(after, CODEC)))
    done = merge(known, known, article, {})
    assert done.conflicts == ()
    assert [one.key for one in pieces(done.text)] == [one.key for one in article]


def test_a_segment_has_the_name_of_its_block() -> None:
    assert read_body("[gallery 1]", CODEC).segments == (
        BodySegment(
            ("[gallery 1]",),
            read_body("[gallery 1]", CODEC).segments[0].text,
            read_body("[gallery 1]", CODEC).segments[0].key,
            "gallery",
        ),
    )


@pytest.mark.parametrize("part", ["<p>x</p>\n\n", "[gallery]\n\n", "<div>", "<ul><li>a</li></ul>\n\n", "\n\n"])
def test_a_long_body_is_read_and_sent(part: str) -> None:
    raw = part * 3000
    body = read_body(raw, CODEC)
    assert sent(body, text_of(body)) == raw


def test_thousands_of_identical_blocks_have_unique_keys() -> None:
    raw = "[gallery]\n\n" * 5000
    body = read_body(raw, CODEC)
    keys = [segment.key for segment in body.segments]
    assert len(keys) == len(set(keys)) == 5000
    assert keys[:2] == [keys[0], f"{keys[0]}-2"]
