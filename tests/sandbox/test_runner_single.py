"""Where an engine's filter refuses nested namespaces, a box says so and is used once."""

from __future__ import annotations

import pytest

from sandbox.boxes import Mode, SandboxError
from sandbox.docker_boxes import ENGINE_DEFAULT
from tests.sandbox.boxes import docker_launcher
from tests.sandbox.leases import SPEC, soon


def test_under_the_engines_own_filter_the_box_is_single_and_its_defences_hold() -> None:
    try:
        launcher = docker_launcher(seccomp=ENGINE_DEFAULT)
    except SandboxError as error:
        pytest.skip(f"needs docker: {error}")
    with launcher.shared_dir() as shared:
        box = launcher.launch(SPEC, shared)
        ready = box.wait_ready(soon(60))
        launcher.close()
    assert not ready.nested
    assert "nested namespaces are refused" in ready.reason
    assert [probe for probe in ready.probes if not probe.held] == []
    assert box.environment.sandbox == f"docker/{Mode.SINGLE}"
