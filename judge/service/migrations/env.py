"""Run by alembic: migrate over the connection that `judge.service.database` hands in."""

from __future__ import annotations

from alembic import context

from judge.service.tables import METADATA


def _ours(name: str | None, kind: str, _parents: object) -> bool:
    """Procrastinate's tables are its own."""
    return kind != "table" or not (name or "").startswith("procrastinate_")


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    include_name=_ours,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
