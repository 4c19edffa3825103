"""One database, two workers and one desk for the faults of a module."""

from __future__ import annotations

from collections.abc import Iterator
from secrets import token_hex

import psycopg
import pytest
from psycopg import sql

from judge.problem import Problem, load_problem
from judge.service.database import plain_url
from tests.service.conftest import TEMPLATE, named
from tests.service.faults.crew import Crew
from tests.service.faults.desk import Desk
from tests.small_problem import MANIFEST, write_problem


@pytest.fixture(scope="package")
def slow_problem(tmp_path_factory: pytest.TempPathFactory) -> Problem:
    """The small problem, with time to sleep in."""
    manifest = MANIFEST.replace("wall_s = 5.0", "wall_s = 12.0")
    return load_problem(write_problem(tmp_path_factory.mktemp("problem"), problem_toml=manifest))


@pytest.fixture(scope="module")
def module_url(postgres: str) -> Iterator[str]:
    """A fresh database with the schema in it, for a whole module."""
    name = f"test_{token_hex(6)}"
    with psycopg.connect(plain_url(named(postgres, "postgres")), autocommit=True) as connection:
        database, template = sql.Identifier(name), sql.Identifier(TEMPLATE)
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(database, template))
        yield named(postgres, name)
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(database))


@pytest.fixture(scope="module")
def module_desk(module_url: str, slow_problem: Problem) -> Iterator[Desk]:
    with Desk(module_url, slow_problem) as desk:
        yield desk


@pytest.fixture(scope="module")
def module_crew(
    module_url: str, module_desk: Desk, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Crew]:
    with Crew(module_url, tmp_path_factory.mktemp("workers")) as crew:
        module_desk.wait_until_idle()  # the problem is prepared
        yield crew


@pytest.fixture
def crew(module_crew: Crew) -> Crew:
    """Two warm workers, whatever an earlier test did to them."""
    module_crew.complete()
    return module_crew


@pytest.fixture
def desk(crew: Crew, module_desk: Desk) -> Desk:
    """Where to hand in once the workers are warm."""
    del crew
    return module_desk
