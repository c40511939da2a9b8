"""Merging an article with footnotes after edits on both sides, without a platform."""

from __future__ import annotations

from typing import Final

from pressroom_content.contract import BodyCodec
from pressroom_content.publishing.bodies import compose, read_body, remembered, with_known_texts
from pressroom_content.publishing.site_edits import diff_of, merge
from pressroom_content.rendering.pieces import pieces_of

_ARTICLE: Final = "A claim[^1].\n\nOurs.\n\nTheirs.\n\n[^1]: The note.\n"


def edits_beside_notes_are_merged(codec: BodyCodec) -> None:
    """Check that notes and text published before do not count as site edits, and that the site's edit is merged."""
    first = compose(None, pieces_of(_ARTICLE, "markdown"), codec).body
    known = remembered(first, first.raw, codec)
    assert compose(known, pieces_of(_ARTICLE, "markdown"), codec).body.raw == first.raw

    site = with_known_texts(known, read_body(first.raw.replace("Theirs.", "Theirs, edited."), codec))
    ours = _ARTICLE.replace("Ours.", "Ours, edited.")
    done = merge(known, site, pieces_of(ours, "markdown"), {})

    assert done.conflicts == ()
    assert done.text.split() == ours.replace("Theirs.", "Theirs, edited.").split()
    assert "note" not in diff_of(known, site)
    sent = compose(site, pieces_of(done.text, "markdown"), codec).body.raw
    assert [sent.count(text) for text in ("Ours, edited.", "Theirs, edited.", "The note.")] == [1, 1, 1]
