"""The plugin's tables on every database: created from scratch, and upgraded from an older version."""

from __future__ import annotations

from pressroom.sdk import Models
from pressroom.storage.database import Migrator, SqlDatabase
from pressroom.storage.database.autogeneration import differences
from pressroom_content.parts import METADATA, STORAGE
from sqlalchemy import text
from support.migrations import downgrade, tables_of

PLUGIN = ("content", Models(METADATA, "pressroom_content.migrations"))
BODY = "Grüße"  # seven bytes


async def test_the_schema_can_be_downgraded_to_nothing_and_upgraded_again(empty_database: SqlDatabase) -> None:
    migrator = Migrator(empty_database, [PLUGIN])
    await migrator.migrate()
    assert await differences(empty_database, METADATA) == []
    await downgrade(empty_database, *PLUGIN, "base")
    assert await tables_of(empty_database) == {"schema_version_content"}
    await migrator.migrate()
    assert await differences(empty_database, METADATA) == []


async def test_storage_used_before_the_upgrade_is_counted(empty_database: SqlDatabase) -> None:
    migrator = Migrator(empty_database, [PLUGIN])
    await migrator.migrate()
    await downgrade(empty_database, *PLUGIN, "0002")
    async with empty_database.writing() as session:
        await session.execute(
            text(
                "INSERT INTO content_articles (id, user_id, status, version, title, slug, slug_scope, body_format, "
                "excerpt, keyphrase, synonyms, meta_title, meta_description, tags, categories, language, "
                "canonical_url, author, featured_media_id, featured_alt, word_count, length, created_at, updated_at, "
                "body) VALUES "
                "('a_1', 'u_1', 'draft', 2, '', '', '', 'markdown', '', '', '[]', '', '', '[]', '[]', '', '', '', '', "
                "'', 1, 1, 0, 0, :body)"
            ),
            {"body": BODY},
        )
        for version in (1, 2):
            await session.execute(
                text(
                    "INSERT INTO content_versions (article_id, version, fields, body, origin, changed, added, removed, "
                    "created_at) VALUES ('a_1', :version, '{}', :body, '', '[]', 0, 0, 0)"
                ),
                {"version": version, "body": BODY},
            )
    await migrator.migrate()
    async with empty_database.reading() as session:
        sizes = {storage.name: await storage.measure(session, "u_1") for storage in STORAGE}
        assert sizes == {"articles": 7 + 2 * (7 + 2), "exports": 0, "sites": 0}
        assert await STORAGE[1].measure(session, "u_2") == 0


ARTICLE = """
    INSERT INTO content_articles (id, user_id, status, version, title, slug, slug_scope, body_format, excerpt,
        keyphrase, synonyms, meta_title, meta_description, tags, categories, language, canonical_url, author,
        featured_media_id, featured_alt, word_count, length, created_at, updated_at, body)
    VALUES ('a_1', 'u_1', 'published', 1, 'Tea', 'tea', '', 'markdown', '', '',
        '[]', '', '', '[]', '[]', '', '', '', '',
        '', 0, 0, 0, 0, '')
"""
WEBSITE = """
    INSERT INTO content_websites (id, user_id, platform, name, url, status, credential, settings, capabilities,
        checks, last_error, version, created_at, updated_at)
    VALUES (:id, 'u_1', :platform, 'Tea', '', 'active', '', '{}', '{}', '[]', '', 1, 0, 0)
"""
PUBLICATION = """
    INSERT INTO content_publications (id, user_id, article_id, website_id, marker, status, mode, article_version,
        options, external_id, url, path, revision, sent_hash, verified, warnings, error, attempt, tries, job_id, lease,
        created_at, updated_at)
    VALUES (:id, 'u_1', 'a_1', :website, :id, 'published', 'publish', 1, '{}',
        '', '', '/sites/tea/tea', '', '', '{}', '[]', '', 0, 0, '', '', 0, 0)
"""


async def test_paths_claimed_by_other_sites_are_removed(empty_database: SqlDatabase) -> None:
    migrator = Migrator(empty_database, [PLUGIN])
    await migrator.migrate()
    await downgrade(empty_database, *PLUGIN, "0001")
    async with empty_database.writing() as session:
        await session.execute(text(ARTICLE))
        for number, platform in enumerate(("builtin", "webhook", "wordpress")):
            await session.execute(text(WEBSITE), {"id": f"w_{number}", "platform": platform})
            await session.execute(text(PUBLICATION), {"id": f"p_{number}", "website": f"w_{number}"})
    await migrator.migrate()
    async with empty_database.reading() as session:
        rows = await session.execute(text("SELECT website_id, path FROM content_publications ORDER BY website_id"))
        assert [tuple(row) for row in rows] == [("w_0", "/sites/tea/tea"), ("w_1", ""), ("w_2", "")]


POST = """
    INSERT INTO content_builtin_posts (id, website_id, marker, slug, state, size, title, html, markdown, fields,
        featured,
        revision, created_at, updated_at)
    VALUES ('b_1', 'w_1', 'm_1', 'tea', 'live', 0, 'Tea', '', '',
        '{"tags": ["Müll", "müll"], "categories": [], "author": "Ada Lovelace"}', '{}', 1, 0, 0)
"""


async def test_posts_of_built_in_sites_are_found_by_their_terms_after_the_upgrade(empty_database: SqlDatabase) -> None:
    migrator = Migrator(empty_database, [PLUGIN])
    await migrator.migrate()
    await downgrade(empty_database, *PLUGIN, "0007")
    async with empty_database.writing() as session:
        await session.execute(text(WEBSITE), {"id": "w_1", "platform": "builtin"})
        await session.execute(text(POST))
    await migrator.migrate()
    async with empty_database.reading() as session:
        terms = await session.execute(text("SELECT kind, slug, name FROM content_builtin_terms ORDER BY kind"))
        assert [tuple(row) for row in terms] == [("author", "ada-lovelace", "Ada Lovelace"), ("tag", "mull", "Müll")]
        assert await session.scalar(text("SELECT kind FROM content_builtin_posts")) == "post"


async def test_tags_of_built_in_sites_for_languages_have_their_own_lists_after_the_upgrade(
    empty_database: SqlDatabase,
) -> None:
    migrator = Migrator(empty_database, [PLUGIN])
    await migrator.migrate()
    await downgrade(empty_database, *PLUGIN, "0012")
    term = """
        INSERT INTO content_builtin_terms (post_id, kind, slug, website_id, name) VALUES ('b_1', 'tag', 'c', 'w_1', 'C')
    """
    async with empty_database.writing() as session:
        await session.execute(text(WEBSITE), {"id": "w_1", "platform": "builtin"})
        await session.execute(text(POST.replace('"Müll", "müll"', '"C", "C++", "C#"').replace("Ada Lovelace", "")))
        await session.execute(text(term))
    await migrator.migrate()
    async with empty_database.reading() as session:
        terms = await session.execute(text("SELECT slug, name FROM content_builtin_terms ORDER BY slug"))
        assert [tuple(row) for row in terms] == [("c", "C"), ("cpp", "C++"), ("csharp", "C#")]


async def test_turkish_words_are_found_after_the_upgrade(empty_database: SqlDatabase) -> None:
    migrator = Migrator(empty_database, [PLUGIN])
    await migrator.migrate()
    await downgrade(empty_database, *PLUGIN, "0011")
    stored = [("i\u0307stanbul", 2, True), ("istanbul", 3, False), ("iş\u0131k", 1, False), ("işik", 1, False)]
    stored += [("\u0131ş\u0131k", 4, True), ("tea", 5, False)]
    adding = "INSERT INTO content_words (user_id, stem, document_id, count, in_title) VALUES ('u_1', :a, 'a_1', :b, :c)"
    async with empty_database.writing() as session:
        for stem, count, in_title in stored:
            await session.execute(text(adding), {"a": stem, "b": count, "c": in_title})
    await migrator.migrate()
    async with empty_database.reading() as session:
        words = await session.execute(text("SELECT stem, count, in_title FROM content_words ORDER BY count"))
        expected = [("istanbul", 5, True), ("isik", 6, True), ("tea", 5, False)]
        assert sorted(tuple(row) for row in words) == sorted(expected)


async def test_words_with_accents_are_found_without_them_after_the_upgrade(empty_database: SqlDatabase) -> None:
    migrator = Migrator(empty_database, [PLUGIN])
    await migrator.migrate()
    await downgrade(empty_database, *PLUGIN, "0013")
    stored = [("café", 2, True), ("cafe", 3, False), ("schön", 1, False), ("книг", 4, True), ("tea", 5, False)]
    adding = "INSERT INTO content_words (user_id, stem, document_id, count, in_title) VALUES (:u, :a, 'a_1', :b, :c)"
    async with empty_database.writing() as session:
        for user_id in ("u_1", "u_2"):
            for stem, count, in_title in stored:
                await session.execute(text(adding), {"u": user_id, "a": stem, "b": count, "c": in_title})
    await migrator.migrate()
    async with empty_database.reading() as session:
        words = await session.execute(text("SELECT user_id, stem, count, in_title FROM content_words"))
        expected = [("cafe", 5, True), ("schon", 1, False), ("книг", 4, True), ("tea", 5, False)]
        assert sorted(tuple(row) for row in words) == sorted((u, *row) for u in ("u_1", "u_2") for row in expected)
