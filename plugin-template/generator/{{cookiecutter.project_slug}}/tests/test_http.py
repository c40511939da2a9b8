"""Tests of the generator over HTTP."""

import httpx

GENERATE = "/tools/{{ cookiecutter.name }}/api/generate"


def test_a_badge_has_the_size_in_the_response(http: httpx.Client) -> None:
    data = http.post(GENERATE, json={"label": "build", "value": "passing"}).json()["data"]
    svg = http.get(data["url"]).text
    assert f'width="{data["width"]}" height="{data["height"]}"' in svg


def test_the_operator_sets_the_colour_of_the_label(http: httpx.Client) -> None:
    svg = http.post(GENERATE, json={"label": "build", "value": "passing", "response": "binary"})
    assert svg.headers["content-type"] == "image/svg+xml"
    assert 'fill="#333333"' in svg.text


def test_problems_are_reported(http: httpx.Client) -> None:
    refused = http.post(GENERATE, json={"label": "two\nlines", "value": "a"})
    assert refused.status_code == 400
    assert refused.json()["error"]["message"].startswith("label: must be one line of printable characters")
