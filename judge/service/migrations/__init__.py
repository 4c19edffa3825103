"""Alembic's migrations. New one: change `tables.py`, then `alembic revision` by hand, numbered."""
