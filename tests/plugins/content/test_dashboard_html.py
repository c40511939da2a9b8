"""Imported HTML never becomes part of the dashboard page."""

from __future__ import annotations

import pytest
from pressroom_content.pages.article import _without_foreign
from pressroom_content.rendering.sanitising import sanitise

FORM = '<form action="/dashboard/connections/tools" method="post"><button>Go on</button></form>'
BODIES = [
    f'<iframe src="https://www.youtube.com/embed/a">{FORM}</iframe>',
    f'<iframe src="https://www.youtube.com/embed/a" title="a > b">{FORM}',
    f'<iframe src="https://www.youtube.com/embed/a"><iframe src="https://player.vimeo.com/video/1">{FORM}</iframe></iframe>',
    f'<IFRAME SRC="https://www.youtube.com/embed/a"><meta http-equiv="refresh" content="0;url=//a.b">{FORM}</IFRAME>',
    f'<div><iframe src="https://www.youtube.com/embed/a">{FORM}</iframe ><p>text</p></div>',
]


@pytest.mark.parametrize("body", BODIES)
def test_content_inside_a_frame_is_not_active_in_a_preview(body: str) -> None:
    sanitised = sanitise(body)
    framed = _without_foreign(sanitised.html, "https://press.example")
    assert "<iframe" not in framed
    for part in ("<form", "<button", "<meta", "action="):
        assert part not in sanitised.html
        assert part not in framed


def test_content_inside_a_frame_is_listed_as_removed() -> None:
    sanitised = sanitise(BODIES[0])
    assert "what stood inside <iframe>" in sanitised.removed
    assert sanitised.html.count("<iframe") == sanitised.html.count("></iframe>") == 1


def test_an_empty_frame_of_a_known_host_is_kept_without_a_warning() -> None:
    html = '<p>See</p><iframe src="https://www.youtube.com/embed/a" title="Film"></iframe><p>after</p>'
    assert sanitise(html).removed == ()
    assert "Film" in _without_foreign(sanitise(html).html, "https://press.example")
