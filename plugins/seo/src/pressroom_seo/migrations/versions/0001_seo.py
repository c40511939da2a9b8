"""Create the tables for crawls, pages, links, findings and marks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    op.create_table(
        "seo_crawls",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("website_id", sa.String(length=32), nullable=False),
        sa.Column("active", sa.String(length=32), nullable=True),
        sa.Column("host", sa.String(length=300), nullable=True),
        sa.Column("start", sa.String(length=2048), nullable=False),
        sa.Column("own", sa.Boolean(), nullable=False),
        sa.Column("max_pages", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("job_id", sa.String(length=32), nullable=False),
        sa.Column("restarts", sa.Integer(), nullable=False),
        sa.Column("pages", sa.Integer(), nullable=False),
        sa.Column("complete", sa.Boolean(), nullable=False),
        sa.Column("score", sa.Integer(), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("severities", sa.JSON(), nullable=False),
        sa.Column("trend", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.JSON(none_as_null=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_seo_crawls")),
        sa.UniqueConstraint("active", name=op.f("uq_seo_crawls_active")),
        sa.UniqueConstraint("host", name=op.f("uq_seo_crawls_host")),
    )
    op.create_index(
        op.f("ix_seo_crawls_user_id_website_id_finished_at"),
        "seo_crawls",
        ["user_id", "website_id", "finished_at"],
        unique=False,
    )
    op.create_table(
        "seo_marks",
        sa.Column("website_id", sa.String(length=32), nullable=False),
        sa.Column("issue_id", sa.String(length=32), nullable=False),
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("check_id", sa.String(length=64), nullable=False),
        sa.Column("url", sa.String(length=2048), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("website_id", "issue_id", name=op.f("pk_seo_marks")),
    )
    op.create_table(
        "seo_findings",
        sa.Column("crawl_id", sa.String(length=32), nullable=False),
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("group_id", sa.String(length=32), nullable=False),
        sa.Column("check_id", sa.String(length=64), nullable=False),
        sa.Column("severity", sa.String(length=16), nullable=False),
        sa.Column("url", sa.String(length=2048), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("evidence", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["crawl_id"], ["seo_crawls.id"], name=op.f("fk_seo_findings_crawl_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("crawl_id", "id", name=op.f("pk_seo_findings")),
    )
    op.create_index(
        op.f("ix_seo_findings_crawl_id_check_id_url"), "seo_findings", ["crawl_id", "check_id", "url"], unique=False
    )
    op.create_index(op.f("ix_seo_findings_crawl_id_url"), "seo_findings", ["crawl_id", "url"], unique=False)
    op.create_index(op.f("ix_seo_findings_id"), "seo_findings", ["id"], unique=False)
    op.create_table(
        "seo_links",
        sa.Column("crawl_id", sa.String(length=32), nullable=False),
        sa.Column("url", sa.String(length=2048), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("location", sa.String(length=2048), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("image", sa.Boolean(), nullable=False),
        sa.Column("internal", sa.Boolean(), nullable=False),
        sa.Column("problems", sa.String(length=64), nullable=False),
        sa.Column("found_in", sa.JSON(), nullable=False),
        sa.Column("record", sa.JSON(none_as_null=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["crawl_id"], ["seo_crawls.id"], name=op.f("fk_seo_links_crawl_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("crawl_id", "url", name=op.f("pk_seo_links")),
    )
    op.create_table(
        "seo_pages",
        sa.Column("crawl_id", sa.String(length=32), nullable=False),
        sa.Column("url", sa.String(length=2048), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("title", sa.String(length=500), nullable=False),
        sa.Column("words", sa.Integer(), nullable=False),
        sa.Column("counted", sa.Boolean(), nullable=False),
        sa.Column("inlinks", sa.Integer(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=True),
        sa.Column("orphan", sa.Boolean(), nullable=False),
        sa.Column("structured", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("record", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["crawl_id"], ["seo_crawls.id"], name=op.f("fk_seo_pages_crawl_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("crawl_id", "url", name=op.f("pk_seo_pages")),
    )


def downgrade() -> None:
    """Drop all tables."""
    op.drop_table("seo_pages")
    op.drop_table("seo_links")
    op.drop_index(op.f("ix_seo_findings_id"), table_name="seo_findings")
    op.drop_index(op.f("ix_seo_findings_crawl_id_url"), table_name="seo_findings")
    op.drop_index(op.f("ix_seo_findings_crawl_id_check_id_url"), table_name="seo_findings")
    op.drop_table("seo_findings")
    op.drop_table("seo_marks")
    op.drop_index(op.f("ix_seo_crawls_user_id_website_id_finished_at"), table_name="seo_crawls")
    op.drop_table("seo_crawls")
