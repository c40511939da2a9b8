import re
import time

import pytest
from pressroom.http.responses import accept_request_id, new_request_id


def test_new_ids_are_unique_and_valid() -> None:
    ids = {new_request_id() for _ in range(10_000)}
    assert len(ids) == 10_000
    assert all(
        re.fullmatch("[0-9a-f]{32}", request_id) and accept_request_id(request_id) == request_id for request_id in ids
    )


def test_request_ids_sort_by_creation_time() -> None:
    before = time.time_ns() // 1_000_000
    created_at = int(new_request_id()[:12], 16)
    assert before <= created_at <= time.time_ns() // 1_000_000


@pytest.mark.parametrize("header", ["abcdefgh", "A-b_c.9x", "x" * 64, "4bf92f3577b34da6a3ce929d0e0e4736"])
def test_a_clients_id_is_preserved(header: str) -> None:
    assert accept_request_id(header) == header


@pytest.mark.parametrize("header", ["", "short12", "x" * 65, "<b>bold</b>", "é" * 10, "٣" * 10, "abcdefgh\n"])
def test_an_invalid_client_id_is_refused(header: str) -> None:
    assert accept_request_id(header) is None


def test_a_client_without_an_id_gets_a_new_one() -> None:
    assert accept_request_id(None) is None
