"""A real WordPress restored from a backup while articles are being published on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.restored_backup import TITLES, Restorable, keeps_what_is_theirs, leaves_others_their_ids
from support.taking_over import taking_over
from support.wordpress import WordPress

from .test_improving import TheirWordPress

pytestmark = pytest.mark.timeout(3600)  # the first test on a machine downloads WordPress


@pytest.fixture
def theirs(blog: WordPress) -> TheirWordPress:
    return TheirWordPress(blog)


@pytest.fixture
def site(blog: WordPress, theirs: TheirWordPress, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Restorable]:
    def bodies() -> dict[str, str]:
        rows = blog.get("/wp/v2/posts", context="edit", per_page=100).raise_for_status().json()
        ours = [row for row in rows if row["title"]["raw"] in TITLES]
        assert len({row["title"]["raw"] for row in ours}) == len(ours)
        return {row["title"]["raw"]: row["content"]["raw"] for row in ours}

    credential = {"username": "admin", "application_password": blog.passwords["admin"]}
    with taking_over(tmp_path_factory.mktemp("restored"), "wordpress", theirs, credential, blog.url) as over:
        yield Restorable(over, blog.backed_up, bodies)


def test_what_the_backup_lacks_is_created_once_and_what_is_outdated_there_is_reported(site: Restorable) -> None:
    keeps_what_is_theirs(site)


def test_another_post_with_the_id_of_ours_is_unchanged(site: Restorable, theirs: TheirWordPress) -> None:
    def make(title: str) -> str:
        return theirs.make("posts", commented=False, title=title, slug="a-recipe", content="Flour and water.")

    leaves_others_their_ids(site, make, lambda url: str(theirs.state(url)[1]["id"]))
