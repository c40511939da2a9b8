"""JSON-RPC messages without HTTP: parsing, and byte-exact round trips."""

import json
from decimal import Decimal
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.interfaces.mcp.protocol import Notification, Request, Response, RpcError, read_message, result_body
from pressroom.validation.json import numbers_as_written, parse_value


def read(body: bytes) -> Any:
    return read_message(parse_value(body), lambda: numbers_as_written(body))


numbers = st.integers(-(10**40), 10**40).map(str) | st.decimals(
    min_value=-(10**30), max_value=10**30, allow_nan=False, places=9
).map(lambda number: format(number, "f"))


@given(number=numbers)
def test_a_number_comes_back_digit_by_digit(number: str) -> None:
    body = b'{"params":{"id":1.5,"x":[2.5,{"id":3}]},"jsonrpc":"2.0","id":%b,"method":"m"}' % number.encode()

    answer = result_body(read(body).id, b"{}")

    assert json.loads(answer, parse_int=Decimal, parse_float=Decimal)["id"] == Decimal(number)
    assert answer == b'{"jsonrpc":"2.0","id":%b,"result":{}}' % number.encode()


@given(text=st.text())
def test_a_text_comes_back_as_it_was(text: str) -> None:
    body = orjson.dumps({"jsonrpc": "2.0", "id": text.encode(errors="replace").decode(), "method": "m"})

    assert orjson.loads(result_body(read(body).id, b"{}"))["id"] == text.encode(errors="replace").decode()


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ({"id": None, "method": "m"}, Request),
        ({"id": 0, "method": "m", "params": {}}, Request),
        ({"method": "m", "result": {}}, Notification),
        ({"method": "m", "params": 7}, Notification),
        ({"id": 1, "result": None}, Response),
        ({"id": 1, "error": {}}, Response),
    ],
    ids=str,
)
def test_message_types_are_recognised(message: dict[str, Any], kind: type) -> None:
    assert type(read(orjson.dumps({"jsonrpc": "2.0", **message}))) is kind


@given(value=st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=4))
def test_what_is_no_object_is_no_message(value: Any) -> None:
    with pytest.raises(RpcError) as raised:
        read_message(value, lambda: value)

    assert orjson.loads(raised.value.body())["id"] is None


def test_an_error_includes_its_id_and_data() -> None:
    plain = RpcError(-32600, "no", message_id=b"7")
    assert plain.body() == b'{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"no"}}'
    assert orjson.loads(RpcError(-32600, "no", data={"a": 1}).body())["error"]["data"] == {"a": 1}
