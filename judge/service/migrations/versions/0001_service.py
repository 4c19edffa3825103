"""The service: submissions, judgings, events, problem versions, workers, and the queue's tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from procrastinate.schema import SchemaManager
from sqlalchemy.dialects.postgresql import JSON, JSONB

revision = "0001"
down_revision = None

NOW = sa.func.now()


def upgrade() -> None:
    """Make everything."""
    _create_submissions()
    _create_judgings()
    _create_workers()
    # As one text: the driver would take the per cent signs in it for parameters.
    connection = op.get_bind().connection.driver_connection
    assert connection is not None
    connection.execute(SchemaManager.get_schema())


def _create_submissions() -> None:
    op.create_table(
        "submissions",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("student", sa.Text, nullable=False),
        sa.Column("open", sa.Boolean, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("problem", sa.Text, nullable=False),
        sa.Column("idempotency_key", sa.Text),
        sa.Column("request_hash", sa.LargeBinary, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_submissions"),
        sa.UniqueConstraint(
            "student", "idempotency_key", name="uq_submissions_student_idempotency_key"
        ),
    )
    op.create_index("ix_submissions_student_created_at", "submissions", ["student", "created_at"])
    op.create_index(
        "ix_submissions_runs",
        "submissions",
        ["created_at"],
        postgresql_where=sa.text("kind = 'run'"),
    )
    op.create_table(
        "sources",
        sa.Column("submission_id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("submission_id", "name", name="pk_sources"),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name="fk_sources_submission_id",
            ondelete="CASCADE",
        ),
    )


def _create_judgings() -> None:
    op.create_table(
        "problem_versions",
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("slug", sa.Text, nullable=False),
        sa.Column("contents", sa.LargeBinary, nullable=False),
        sa.Column("facts", JSON),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.PrimaryKeyConstraint("version", name="pk_problem_versions"),
    )
    op.create_table(
        "judgings",
        sa.Column("id", sa.BigInteger, nullable=False),
        sa.Column("submission_id", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("problem_version", sa.Text, nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("attempts", sa.Integer, server_default="0", nullable=False),
        sa.Column("worker", sa.Text),
        sa.Column("accepted_ms", sa.Float, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.Column("claimed_at", sa.DateTime(timezone=True)),
        sa.Column("finished_at", sa.DateTime(timezone=True)),
        sa.Column("verdict", sa.Text),
        sa.Column("score", sa.Float),
        sa.Column("sandbox", sa.Text),
        sa.Column("image", sa.Text),
        sa.Column("result", JSON),
        sa.PrimaryKeyConstraint("id", name="pk_judgings"),
        sa.UniqueConstraint("submission_id", "number", name="uq_judgings_submission_id_number"),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name="fk_judgings_submission_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["problem_version"], ["problem_versions.version"], name="fk_judgings_problem_version"
        ),
    )
    op.create_index(
        "ix_judgings_unfinished",
        "judgings",
        ["priority", "id"],
        postgresql_where=sa.text("state <> 'finished'"),
    )
    op.create_index("ix_judgings_finished_at", "judgings", ["finished_at"])
    op.create_table(
        "events",
        sa.Column("id", sa.BigInteger, nullable=False),
        sa.Column("judging_id", sa.BigInteger, nullable=False),
        sa.Column("data", JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
        sa.ForeignKeyConstraint(
            ["judging_id"], ["judgings.id"], name="fk_events_judging_id", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_events_judging_id_id", "events", ["judging_id", "id"])


def _create_workers() -> None:
    op.create_table(
        "workers",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("sandbox", sa.Text, nullable=False),
        sa.Column("slots", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("boxes", JSONB, nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_workers"),
    )
    op.create_table(
        "tallies",
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("verdict", sa.Text, nullable=False),
        sa.Column("bucket_ms", sa.Float, nullable=False),
        sa.Column("count", sa.BigInteger, nullable=False),
        sa.Column("total_ms", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("kind", "verdict", "bucket_ms", name="pk_tallies"),
    )
