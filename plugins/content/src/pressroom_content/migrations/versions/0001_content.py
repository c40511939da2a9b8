"""Websites, articles, publications, ideas and voices."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "content_articles",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("website_id", sa.String(length=32), nullable=True),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("title", sa.String(length=500), nullable=False),
        sa.Column("slug", sa.String(length=200), nullable=False),
        sa.Column("slug_scope", sa.String(length=32), nullable=False),
        sa.Column("body_format", sa.String(length=16), nullable=False),
        sa.Column("excerpt", sa.Text(), nullable=False),
        sa.Column("keyphrase", sa.String(length=200), nullable=False),
        sa.Column("synonyms", sa.JSON(), nullable=False),
        sa.Column("meta_title", sa.String(length=500), nullable=False),
        sa.Column("meta_description", sa.Text(), nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("categories", sa.JSON(), nullable=False),
        sa.Column("language", sa.String(length=35), nullable=False),
        sa.Column("canonical_url", sa.String(length=2048), nullable=False),
        sa.Column("author", sa.String(length=200), nullable=False),
        sa.Column("featured_media_id", sa.String(length=32), nullable=False),
        sa.Column("featured_alt", sa.Text(), nullable=False),
        sa.Column("word_count", sa.Integer(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("score", sa.Integer(), nullable=True),
        sa.Column("request_id", sa.String(length=200), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("published_at", sa.BigInteger(), nullable=True),
        sa.Column("trashed_at", sa.BigInteger(), nullable=True),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_content_articles")),
    )
    op.create_index(
        op.f("ix_content_articles_status_published_at"), "content_articles", ["status", "published_at"], unique=False
    )
    op.create_index(op.f("ix_content_articles_trashed_at"), "content_articles", ["trashed_at"], unique=False)
    op.create_index(
        op.f("ix_content_articles_user_id_keyphrase"), "content_articles", ["user_id", "keyphrase"], unique=False
    )
    op.create_index(
        op.f("ix_content_articles_user_id_language"), "content_articles", ["user_id", "language"], unique=False
    )
    op.create_index(
        op.f("ix_content_articles_user_id_request_id"), "content_articles", ["user_id", "request_id"], unique=True
    )
    op.create_index(
        op.f("ix_content_articles_user_id_slug_scope_slug"),
        "content_articles",
        ["user_id", "slug_scope", "slug"],
        unique=True,
    )
    op.create_index(
        op.f("ix_content_articles_user_id_status_updated_at_id"),
        "content_articles",
        ["user_id", "status", "updated_at", "id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_content_articles_user_id_updated_at_id"),
        "content_articles",
        ["user_id", "updated_at", "id"],
        unique=False,
    )
    op.create_index(op.f("ix_content_articles_website_id"), "content_articles", ["website_id"], unique=False)
    op.create_table(
        "content_connects",
        sa.Column("token_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("platform", sa.String(length=32), nullable=False),
        sa.Column("url", sa.String(length=2048), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("website_id", sa.String(length=32), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_content_connects")),
        sa.UniqueConstraint("id", name=op.f("uq_content_connects_id")),
    )
    op.create_index(op.f("ix_content_connects_expires_at"), "content_connects", ["expires_at"], unique=False)
    op.create_table(
        "content_exports",
        sa.Column("token_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("filename", sa.String(length=200), nullable=False),
        sa.Column("media_type", sa.String(length=100), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_content_exports")),
    )
    op.create_index(op.f("ix_content_exports_expires_at"), "content_exports", ["expires_at"], unique=False)
    op.create_table(
        "content_ideas",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("website_id", sa.String(length=32), nullable=True),
        sa.Column("title", sa.String(length=500), nullable=False),
        sa.Column("keyphrase", sa.String(length=200), nullable=False),
        sa.Column("due", sa.Date(), nullable=True),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_content_ideas")),
    )
    op.create_index(
        op.f("ix_content_ideas_user_id_updated_at"), "content_ideas", ["user_id", "updated_at"], unique=False
    )
    op.create_table(
        "content_shingles",
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("band", sa.LargeBinary(length=9), nullable=False),
        sa.Column("document_id", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "band", "document_id", name=op.f("pk_content_shingles")),
    )
    op.create_index(op.f("ix_content_shingles_document_id"), "content_shingles", ["document_id"], unique=False)
    op.create_table(
        "content_websites",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("platform", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("url", sa.String(length=2048), nullable=False),
        sa.Column("site_key", sa.String(length=80), nullable=True),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("credential", sa.Text(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("capabilities", sa.JSON(), nullable=False),
        sa.Column("checks", sa.JSON(), nullable=False),
        sa.Column("last_error", sa.Text(), nullable=False),
        sa.Column("last_error_at", sa.BigInteger(), nullable=True),
        sa.Column("checked_at", sa.BigInteger(), nullable=True),
        sa.Column("last_published_at", sa.BigInteger(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("disconnected_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_content_websites")),
        sa.UniqueConstraint("site_key", name=op.f("uq_content_websites_site_key")),
    )
    op.create_index(
        op.f("ix_content_websites_user_id_created_at"), "content_websites", ["user_id", "created_at"], unique=False
    )
    op.create_table(
        "content_words",
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("stem", sa.String(length=64), nullable=False),
        sa.Column("document_id", sa.String(length=32), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("in_title", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "stem", "document_id", name=op.f("pk_content_words")),
    )
    op.create_index(op.f("ix_content_words_document_id"), "content_words", ["document_id"], unique=False)
    op.create_table(
        "content_builtin_files",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("website_id", sa.String(length=32), nullable=False),
        sa.Column("marker", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("media_type", sa.String(length=100), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["website_id"],
            ["content_websites.id"],
            name=op.f("fk_content_builtin_files_website_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_content_builtin_files")),
    )
    op.create_index(op.f("ix_content_builtin_files_marker"), "content_builtin_files", ["marker"], unique=False)
    op.create_table(
        "content_builtin_posts",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("website_id", sa.String(length=32), nullable=False),
        sa.Column("marker", sa.String(length=32), nullable=False),
        sa.Column("slug", sa.String(length=200), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("publish_at", sa.BigInteger(), nullable=True),
        sa.Column("title", sa.String(length=500), nullable=False),
        sa.Column("html", sa.Text(), nullable=False),
        sa.Column("markdown", sa.Text(), nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.Column("featured", sa.JSON(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("published_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["website_id"],
            ["content_websites.id"],
            name=op.f("fk_content_builtin_posts_website_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_content_builtin_posts")),
    )
    op.create_index(op.f("ix_content_builtin_posts_marker"), "content_builtin_posts", ["marker"], unique=False)
    op.create_index(
        op.f("ix_content_builtin_posts_website_id_slug"), "content_builtin_posts", ["website_id", "slug"], unique=True
    )
    op.create_index(
        op.f("ix_content_builtin_posts_website_id_state_published_at"),
        "content_builtin_posts",
        ["website_id", "state", "published_at"],
        unique=False,
    )
    op.create_table(
        "content_builtin_redirects",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("website_id", sa.String(length=32), nullable=False),
        sa.Column("source", sa.String(length=500), nullable=False),
        sa.Column("target", sa.String(length=2048), nullable=False),
        sa.Column("permanent", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["website_id"],
            ["content_websites.id"],
            name=op.f("fk_content_builtin_redirects_website_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_content_builtin_redirects")),
    )
    op.create_index(
        op.f("ix_content_builtin_redirects_website_id_source"),
        "content_builtin_redirects",
        ["website_id", "source"],
        unique=True,
    )
    op.create_table(
        "content_pages",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("website_id", sa.String(length=32), nullable=False),
        sa.Column("article_id", sa.String(length=32), nullable=True),
        sa.Column("url", sa.String(length=2048), nullable=False),
        sa.Column("external_id", sa.String(length=200), nullable=False),
        sa.Column("title", sa.String(length=500), nullable=False),
        sa.Column("excerpt", sa.Text(), nullable=False),
        sa.Column("keyphrase", sa.String(length=200), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("fingerprint", sa.LargeBinary(length=32), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=True),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["website_id"], ["content_websites.id"], name=op.f("fk_content_pages_website_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_content_pages")),
    )
    op.create_index(op.f("ix_content_pages_article_id"), "content_pages", ["article_id"], unique=False)
    op.create_index(op.f("ix_content_pages_user_id_seen_at"), "content_pages", ["user_id", "seen_at"], unique=False)
    op.create_index(op.f("ix_content_pages_website_id_url"), "content_pages", ["website_id", "url"], unique=True)
    op.create_table(
        "content_publications",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("article_id", sa.String(length=32), nullable=False),
        sa.Column("website_id", sa.String(length=32), nullable=False),
        sa.Column("marker", sa.String(length=32), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("mode", sa.String(length=16), nullable=False),
        sa.Column("article_version", sa.Integer(), nullable=False),
        sa.Column("publish_at", sa.BigInteger(), nullable=True),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("request_id", sa.String(length=200), nullable=True),
        sa.Column("canonical_of", sa.String(length=32), nullable=True),
        sa.Column("external_id", sa.String(length=200), nullable=False),
        sa.Column("url", sa.String(length=2048), nullable=False),
        sa.Column("path", sa.String(length=500), nullable=False),
        sa.Column("revision", sa.String(length=200), nullable=False),
        sa.Column("sent_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("verified", sa.JSON(), nullable=False),
        sa.Column("warnings", sa.JSON(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.Column("job_id", sa.String(length=32), nullable=False),
        sa.Column("lease", sa.String(length=32), nullable=False),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("published_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["article_id"], ["content_articles.id"], name=op.f("fk_content_publications_article_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["website_id"], ["content_websites.id"], name=op.f("fk_content_publications_website_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_content_publications")),
        sa.UniqueConstraint("marker", name=op.f("uq_content_publications_marker")),
    )
    op.create_index(
        op.f("ix_content_publications_article_id_website_id"),
        "content_publications",
        ["article_id", "website_id"],
        unique=True,
    )
    op.create_index(op.f("ix_content_publications_due_at"), "content_publications", ["due_at"], unique=False)
    op.create_index(op.f("ix_content_publications_path"), "content_publications", ["path"], unique=False)
    op.create_index(
        op.f("ix_content_publications_status_publish_at"),
        "content_publications",
        ["status", "publish_at"],
        unique=False,
    )
    op.create_index(
        op.f("ix_content_publications_user_id_updated_at_id"),
        "content_publications",
        ["user_id", "updated_at", "id"],
        unique=False,
    )
    op.create_index(op.f("ix_content_publications_website_id"), "content_publications", ["website_id"], unique=False)
    op.create_table(
        "content_versions",
        sa.Column("article_id", sa.String(length=32), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("origin", sa.String(length=200), nullable=False),
        sa.Column("changed", sa.JSON(), nullable=False),
        sa.Column("added", sa.Integer(), nullable=False),
        sa.Column("removed", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["article_id"], ["content_articles.id"], name=op.f("fk_content_versions_article_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("article_id", "version", name=op.f("pk_content_versions")),
    )
    op.create_table(
        "content_voices",
        sa.Column("website_id", sa.String(length=32), nullable=False),
        sa.Column("voice", sa.JSON(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["website_id"], ["content_websites.id"], name=op.f("fk_content_voices_website_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("website_id", name=op.f("pk_content_voices")),
    )
    op.create_table(
        "content_steps",
        sa.Column("publication_id", sa.String(length=32), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=32), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["publication_id"],
            ["content_publications.id"],
            name=op.f("fk_content_steps_publication_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("publication_id", "position", name=op.f("pk_content_steps")),
    )


def downgrade() -> None:
    """Drop all tables."""
    op.drop_table("content_steps")
    op.drop_table("content_voices")
    op.drop_table("content_versions")
    op.drop_index(op.f("ix_content_publications_website_id"), table_name="content_publications")
    op.drop_index(op.f("ix_content_publications_user_id_updated_at_id"), table_name="content_publications")
    op.drop_index(op.f("ix_content_publications_status_publish_at"), table_name="content_publications")
    op.drop_index(op.f("ix_content_publications_path"), table_name="content_publications")
    op.drop_index(op.f("ix_content_publications_due_at"), table_name="content_publications")
    op.drop_index(op.f("ix_content_publications_article_id_website_id"), table_name="content_publications")
    op.drop_table("content_publications")
    op.drop_index(op.f("ix_content_pages_website_id_url"), table_name="content_pages")
    op.drop_index(op.f("ix_content_pages_user_id_seen_at"), table_name="content_pages")
    op.drop_index(op.f("ix_content_pages_article_id"), table_name="content_pages")
    op.drop_table("content_pages")
    op.drop_index(op.f("ix_content_builtin_redirects_website_id_source"), table_name="content_builtin_redirects")
    op.drop_table("content_builtin_redirects")
    op.drop_index(op.f("ix_content_builtin_posts_website_id_state_published_at"), table_name="content_builtin_posts")
    op.drop_index(op.f("ix_content_builtin_posts_website_id_slug"), table_name="content_builtin_posts")
    op.drop_index(op.f("ix_content_builtin_posts_marker"), table_name="content_builtin_posts")
    op.drop_table("content_builtin_posts")
    op.drop_index(op.f("ix_content_builtin_files_marker"), table_name="content_builtin_files")
    op.drop_table("content_builtin_files")
    op.drop_index(op.f("ix_content_words_document_id"), table_name="content_words")
    op.drop_table("content_words")
    op.drop_index(op.f("ix_content_websites_user_id_created_at"), table_name="content_websites")
    op.drop_table("content_websites")
    op.drop_index(op.f("ix_content_shingles_document_id"), table_name="content_shingles")
    op.drop_table("content_shingles")
    op.drop_index(op.f("ix_content_ideas_user_id_updated_at"), table_name="content_ideas")
    op.drop_table("content_ideas")
    op.drop_index(op.f("ix_content_exports_expires_at"), table_name="content_exports")
    op.drop_table("content_exports")
    op.drop_index(op.f("ix_content_connects_expires_at"), table_name="content_connects")
    op.drop_table("content_connects")
    op.drop_index(op.f("ix_content_articles_website_id"), table_name="content_articles")
    op.drop_index(op.f("ix_content_articles_user_id_updated_at_id"), table_name="content_articles")
    op.drop_index(op.f("ix_content_articles_user_id_status_updated_at_id"), table_name="content_articles")
    op.drop_index(op.f("ix_content_articles_user_id_slug_scope_slug"), table_name="content_articles")
    op.drop_index(op.f("ix_content_articles_user_id_request_id"), table_name="content_articles")
    op.drop_index(op.f("ix_content_articles_user_id_language"), table_name="content_articles")
    op.drop_index(op.f("ix_content_articles_user_id_keyphrase"), table_name="content_articles")
    op.drop_index(op.f("ix_content_articles_trashed_at"), table_name="content_articles")
    op.drop_index(op.f("ix_content_articles_status_published_at"), table_name="content_articles")
    op.drop_table("content_articles")
