"""The tables. Procrastinate keeps its own beside them, with the prefix `procrastinate_`."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSON, JSONB

# Where the order of keys means something (spans, charts, their tables) it is JSON, not JSONB.
METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _moment(name: str, *, now: bool = False) -> Column[object]:
    default = func.now() if now else None
    return Column(name, DateTime(timezone=True), nullable=not now, server_default=default)


# What a student sent. `open` may be read by whoever knows the id and has no credentials.
SUBMISSIONS = Table(
    "submissions",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("student", Text, nullable=False),
    Column("open", Boolean, nullable=False),
    Column("kind", Text, nullable=False),
    Column("problem", Text, nullable=False),
    Column("idempotency_key", Text),
    Column("request_hash", LargeBinary, nullable=False),
    _moment("created_at", now=True),
    UniqueConstraint("student", "idempotency_key"),
    Index(None, "student", "created_at"),
    Index("ix_submissions_runs", "created_at", postgresql_where=text("kind = 'run'")),
)

# Its files, as bytes: a source may hold what JSON and text columns cannot.
SOURCES = Table(
    "sources",
    METADATA,
    Column(
        "submission_id", Text, ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True
    ),
    Column("name", Text, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)

# One pass over a submission. `attempts` counts the claims and is the lease: whoever claimed last
# may write events. What lists show of a result stands beside it too: a result is large. A grade of
# a student's own tests has a `grade_key` when whatever has the same may take it over.
JUDGINGS = Table(
    "judgings",
    METADATA,
    Column("id", BigInteger, primary_key=True),
    Column("submission_id", Text, ForeignKey("submissions.id", ondelete="CASCADE"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("problem_version", Text, ForeignKey("problem_versions.version"), nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("worker", Text),
    Column("accepted_ms", Float, nullable=False),
    _moment("created_at", now=True),
    _moment("claimed_at"),
    _moment("finished_at"),
    Column("verdict", Text),
    Column("score", Float),
    Column("sandbox", Text),
    Column("image", Text),
    Column("result", JSON),
    Column("failed_tier", Text),
    Column("judged_ms", Float),
    Column("grade_key", LargeBinary),
    UniqueConstraint("submission_id", "number"),
    Index("ix_judgings_unfinished", "priority", "id", postgresql_where=text("state <> 'finished'")),
    Index(None, "finished_at"),
    Index(
        "ix_judgings_grade_key",
        "grade_key",
        "finished_at",
        postgresql_where=text("grade_key IS NOT NULL"),
    ),
)

# What happened during a judging, in order. The truth behind every stream.
EVENTS = Table(
    "events",
    METADATA,
    Column("id", BigInteger, primary_key=True),
    Column("judging_id", BigInteger, ForeignKey("judgings.id", ondelete="CASCADE"), nullable=False),
    Column("data", JSON, nullable=False),
    Index(None, "judging_id", "id"),
)

# Every version of a problem that anything was judged with, whole: a worker needs no folder.
# `facts` is what a worker found out about it: its checks, and the charts of its reference.
PROBLEM_VERSIONS = Table(
    "problem_versions",
    METADATA,
    Column("version", Text, primary_key=True),
    Column("slug", Text, nullable=False),
    Column("contents", LargeBinary, nullable=False),
    Column("facts", JSON),
    _moment("created_at", now=True),
)

# Who judges, and how they are. `boxes` counts boxes by state.
WORKERS = Table(
    "workers",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("sandbox", Text, nullable=False),
    Column("slots", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("boxes", JSONB, nullable=False),
    _moment("started_at", now=True),
    _moment("seen_at", now=True),
)

# Verdicts counted as they are given, by kind and by how long the student waited for them:
# `bucket_ms` is the upper bound of a histogram's bucket. Outlives the rows it counted.
TALLIES = Table(
    "tallies",
    METADATA,
    Column("kind", Text, primary_key=True),
    Column("verdict", Text, primary_key=True),
    Column("bucket_ms", Float, primary_key=True),
    Column("count", BigInteger, nullable=False),
    Column("total_ms", Float, nullable=False),
)
