"""Articles to start with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.content_client import Client

Make = Callable[..., str]


@pytest.fixture
def make(ada: Client) -> Make:
    """Return a function that creates an article of ada's and returns its ID."""

    def made(title: str, body: str = "Some text.", **fields: Any) -> str:
        id_: str = ada.data("create_content", title=title, body=body, **fields)["content_id"]
        return id_

    return made


@pytest.fixture
def website(ada: Client) -> str:
    """Return a built-in website of ada's."""
    connected = ada.data("connect_website", platform="builtin", name="Tea blog")
    assert connected["state"]
    id_: str = ada.data("list_websites")["websites"][0]["id"]
    return id_


def publish(client: Client, content_id: str, website_id: str) -> str:
    """Publish an article and return its URL."""
    publication = client.data("publish_content", content_id=content_id, website_id=website_id)
    assert publication["status"] == "published", publication
    url: str = publication["url"]
    return url
