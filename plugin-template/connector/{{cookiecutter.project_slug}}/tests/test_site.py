"""Tests of the connector against the stand-in for its platform."""

from collections.abc import Callable

import pytest
from pressroom.testing import RunningHost
from pressroom_content.contract import Post, RemoteChanged, SiteRefused, SiteRejected

from {{ cookiecutter.package }}.site import PlatformSite

POST = Post("marker-1", "Hello", "hello", "<p>Hello</p>", "Hello", tags=("news",))


def test_a_working_token_is_reported(host: RunningHost, site: PlatformSite) -> None:
    assert [check.status for check in host.run(site.check()).checks] == ["ok"]


def test_a_wrong_token_is_reported_and_refused(host: RunningHost, site_with: Callable[[str], PlatformSite]) -> None:
    site = site_with("wrong")
    assert [check.status for check in host.run(site.check()).checks] == ["error"]
    with pytest.raises(SiteRejected):
        host.run(site.create(POST))


def test_a_post_is_made_as_a_draft_and_found_by_its_marker(host: RunningHost, site: PlatformSite) -> None:
    assert host.run(site.find(POST)) is None
    made = host.run(site.create(POST))
    assert (made.state, made.html, made.fields["tags"]) == ("draft", "<p>Hello</p>", ("news",))
    assert host.run(site.find(POST)) == made


def test_a_post_is_published_and_made_a_draft_again(host: RunningHost, site: PlatformSite) -> None:
    made = host.run(site.create(POST))
    assert host.run(site.set_state(made.id, "live")).state == "live"
    assert host.run(site.set_state(made.id, "draft")).state == "draft"


def test_a_post_that_somebody_edited_is_not_replaced(host: RunningHost, site: PlatformSite) -> None:
    made = host.run(site.create(POST))
    edited = host.run(site.update(made.id, POST, made.revision))
    assert edited.revision != made.revision
    with pytest.raises(RemoteChanged):
        host.run(site.update(made.id, POST, made.revision))


def test_unsupported_operations_are_refused(host: RunningHost, site: PlatformSite) -> None:
    made = host.run(site.create(POST))
    with pytest.raises(SiteRefused, match="keeps every post"):
        host.run(site.set_state(made.id, "trashed"))
