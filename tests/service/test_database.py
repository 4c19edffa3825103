from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
import sqlalchemy
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from judge.service.database import DatabaseError, driver_url, migrate, plain_url
from judge.service.tables import METADATA
from tests.service.conftest import named


def empty_database(database_url: str, name: str) -> str:
    with psycopg.connect(plain_url(database_url), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return named(database_url, name)


def drop_database(database_url: str, name: str) -> None:
    with psycopg.connect(plain_url(database_url), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_the_migrations_make_the_tables_of_the_code(database_url: str) -> None:
    engine = sqlalchemy.create_engine(driver_url(database_url))

    def ours(name: str | None, kind: str, _parents: object) -> bool:
        return kind != "table" or not (name or "").startswith("procrastinate_")

    with engine.connect() as connection:
        options = {"include_name": ours, "compare_type": True, "compare_server_default": True}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, METADATA) == []
    engine.dispose()


def test_many_that_start_together_migrate_once(database_url: str) -> None:
    url = empty_database(database_url, "together")
    try:
        with ThreadPoolExecutor(6) as threads:
            list(threads.map(migrate, [url] * 6))
        with psycopg.connect(plain_url(url)) as connection:
            count = connection.execute("SELECT count(*) FROM alembic_version").fetchone()
            assert count == (1,)
    finally:
        drop_database(database_url, "together")


def test_what_was_judged_before_has_its_progress_after_a_migration(database_url: str) -> None:
    results = {
        "ac": '{"tiers": [{"id": "T0", "verdict": "AC"}], "timing": {"judged_ms": 1.5}}',
        "wa": '{"tiers": [{"id": "T0", "verdict": "AC"}, {"id": "T1", "verdict": "WA"},'
        ' {"id": "T2", "verdict": "TLE"}, {"id": "T3", "verdict": "SK"}],'
        ' "timing": {"judged_ms": 20}}',
        "queued": None,
    }
    url = empty_database(database_url, "earlier")
    try:
        migrate(url, "0001")
        with psycopg.connect(plain_url(url)) as connection:
            connection.execute("INSERT INTO problem_versions VALUES ('v', 'double', '')")
            for name, result in results.items():
                connection.execute(
                    "INSERT INTO submissions (id, student, open, kind, problem, request_hash)"
                    " VALUES (%s, 'ann', false, 'submit', 'double', '')",
                    [name],
                )
                connection.execute(
                    "INSERT INTO judgings (submission_id, number, state, problem_version, seed,"
                    " priority, accepted_ms, result) VALUES (%s, 1, '', 'v', 1, 1, 1, %s)",
                    [name, result],
                )
        migrate(url)
        with psycopg.connect(plain_url(url)) as connection:
            kept = connection.execute("SELECT count(grade_key) FROM judgings").fetchone()
            assert kept == (0,)
            columns = "submission_id, failed_tier, judged_ms"
            rows = connection.execute(f"SELECT {columns} FROM judgings").fetchall()
        assert set(rows) == {("ac", None, 1.5), ("wa", "T1", 20.0), ("queued", None, None)}
    finally:
        drop_database(database_url, "earlier")


def test_a_schema_of_a_newer_judge_is_refused(database_url: str) -> None:
    with psycopg.connect(plain_url(database_url)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(DatabaseError, match="newer judge"):
        migrate(database_url)


def test_a_database_that_is_not_there_is_named_without_its_password() -> None:
    with pytest.raises(DatabaseError) as refused:
        migrate("postgresql://ann:secret@/none?host=/nowhere")
    assert "/nowhere" in str(refused.value)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("given", ["postgres://u:p@h/d", "postgresql://u:p@h/d"])
def test_common_forms_of_an_address_are_understood(given: str) -> None:
    assert driver_url(given).drivername == "postgresql+psycopg"
    assert plain_url(given) == "postgresql://u:p@h/d"


def test_what_is_no_address_is_refused() -> None:
    with pytest.raises(DatabaseError, match="JUDGE_DATABASE_URL"):
        driver_url("nonsense")
