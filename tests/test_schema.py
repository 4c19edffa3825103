from __future__ import annotations

import json

from judge.results import SCHEMA_FILE, Result, schema_text


def test_the_committed_schema_is_current() -> None:
    hint = "run: python -m judge.results"
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text(), hint


def test_the_schema_has_every_part_of_the_contract() -> None:
    schema = json.loads(schema_text())
    assert set(schema["properties"]) == set(Result.model_fields)
    assert schema["additionalProperties"] is False
