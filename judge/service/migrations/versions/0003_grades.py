"""Grades of students' own tests are found again by what they depend on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column; what was judged before is judged again when it is sent again."""
    op.add_column("judgings", sa.Column("grade_key", sa.LargeBinary))
    op.create_index(
        "ix_judgings_grade_key",
        "judgings",
        ["grade_key", "finished_at"],
        postgresql_where=sa.text("grade_key IS NOT NULL"),
    )
