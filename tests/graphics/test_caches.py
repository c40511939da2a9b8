"""Drawing caches: bounded, and safe to share between threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pressroom.graphics import emoji
from pressroom.graphics.color import BLACK
from pressroom.graphics.emoji import BoundedCache, emoji_image
from pressroom.graphics.text import TextStyle, default_library, draw_text, drawing, shape


@given(st.lists(st.integers(0, 30)), st.integers(1, 60))
def test_a_cache_keeps_what_was_used_last_within_its_bound(keys: list[int], most: int) -> None:
    cache: BoundedCache[int, int] = BoundedCache(most, lambda value: value)
    for key in keys:
        assert cache.get(key, partial(int, key)) == key
        assert cache.bytes <= max(most, key)
    if keys:
        assert cache.get(keys[-1], lambda: -1) == keys[-1]


def test_emoji_are_cached_by_sequence_and_size() -> None:
    assert emoji_image("🚀", 40) is emoji_image("🚀", 40)
    assert emoji_image("🚀", 40) is not emoji_image("🚀", 41)


def test_the_cache_of_large_emoji_is_bounded() -> None:
    for size in range(1024, 1044):
        emoji_image("🟥", size)
    assert emoji._images.bytes <= 32 * 2**20


def test_the_cache_of_glyphs_is_bounded() -> None:
    library = default_library()
    for size in range(300, 900, 3):
        draw_text(Image.new("RGB", (40, 40)), shape("MW@", TextStyle(size), library), 0, 30, BLACK)
    assert drawing._masks.bytes <= 32 * 2**20


def test_concurrent_threads_draw_the_same_as_one() -> None:
    library = default_library()

    def draw(number: int) -> bytes:
        image = Image.new("RGB", (300, 60), "white")
        draw_text(image, shape("Sphinx of quartz", TextStyle(20 + number % 7 + 0.37), library), 3.3, 40, BLACK)
        return image.tobytes()

    drawing._masks = BoundedCache(1, drawing._bytes_of)  # caches nothing, so all threads keep drawing
    alone = [draw(number) for number in range(7)]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(draw, range(140)))
    assert together == alone * 20
