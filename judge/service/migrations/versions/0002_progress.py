"""What histories and the catalogue show of a judging, beside its result rather than inside it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the columns, and read them out of the results there are."""
    op.add_column("judgings", sa.Column("failed_tier", sa.Text))
    op.add_column("judgings", sa.Column("judged_ms", sa.Float))
    op.execute("""
        UPDATE judgings SET
            judged_ms = CAST(result -> 'timing' ->> 'judged_ms' AS double precision),
            failed_tier = (
                SELECT tier ->> 'id'
                FROM json_array_elements(result -> 'tiers') WITH ORDINALITY AS each (tier, place)
                WHERE tier ->> 'verdict' NOT IN ('AC', 'SK')
                ORDER BY place LIMIT 1
            )
        WHERE result IS NOT NULL
    """)
