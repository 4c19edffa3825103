"""The image: what its tag depends on, what is in it, and what is said when it cannot be had."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest

from sandbox import image
from sandbox.boxes import EngineGone, SandboxError
from sandbox.image import REQUIREMENTS, Base, ImageBuilder, tag_for
from tests.sandbox.boxes import as_nobody, builder

ROOT = Path(__file__).parents[2]
NOWHERE = "unix:///nonexistent/docker.sock"


def test_each_base_has_a_tag_of_its_own() -> None:
    assert len({tag_for(base) for base in Base}) == len(Base)
    assert tag_for(Base.DEBIAN) == tag_for(Base.DEBIAN)


def test_image_and_host_have_the_same_libraries() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(REQUIREMENTS) <= set(project["dependencies"])


def test_an_engine_that_is_not_there_is_said_to_be_gone(tmp_path: Path) -> None:
    with pytest.raises(EngineGone, match="no Docker engine answers"):
        ImageBuilder(NOWHERE, tmp_path).current()


def test_wheels_are_for_the_images_python_and_not_the_hosts() -> None:
    options = image._targets()
    assert options[options.index("--python-version") + 1] == "3.11"
    platforms = [o for o in options if o.startswith("manylinux")]
    assert "manylinux_2_28_x86_64" in platforms
    assert "manylinux_2_37_x86_64" not in platforms


def test_a_debian_base_needs_root_and_says_so() -> None:
    with as_nobody(), pytest.raises(SandboxError, match="only be made by root"):
        image._require_debootstrap()


def test_a_cache_that_cannot_be_written_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SandboxError, match=r"cache folder .* cannot be used") as caught:
        ImageBuilder(NOWHERE, tmp_path / "file" / "cache").build(None, print)
    assert "JUDGE_CACHE" in caught.value.remedy


def test_a_download_that_never_ends_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="had not fetched the wheels after 0 minutes"):
        image._download(tmp_path, (), print, patience_s=0)


def test_a_failed_build_is_told_in_the_engines_words() -> None:
    said: list[dict[str, object]] = [
        {"stream": "Step 1/2\n"},
        {"stream": "copying\n"},
        {"error": "no space left"},
    ]
    with pytest.raises(SandboxError, match=r"could not be built \(copying \| no space left\)"):
        image._follow(said, lambda _step: None)


@pytest.fixture(scope="module")
def built() -> image.ImageRef:
    try:
        return builder().ensure(None, print)
    except SandboxError as error:
        pytest.skip(f"needs docker: {error}")


def test_a_built_image_is_found_again(built: image.ImageRef) -> None:
    assert builder().current() == built
    assert builder().current(built.base) == built
    assert built.digest.startswith("sha256:")


def test_an_image_holds_libraries_and_neither_our_code_nor_pip(built: image.ImageRef) -> None:
    command = ["docker", "run", "--rm", "--network", "none", built.digest, "ls"]
    listed = subprocess.run(
        [*command, "/env/site-packages"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert {"torch", "numpy", "msgspec", "pytest", "pydantic"} <= set(listed)
    assert not {"judge", "sandbox", "problems", "pip"} & set(listed)


def test_an_image_runs_as_nobody(built: image.ImageRef) -> None:
    command = ["docker", "run", "--rm", "--network", "none", built.digest, "id", "-u"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "65534\n"
