"""Everything that can be configured from outside, and the only module that reads environment.

Settings are built once, at the start of a command, and passed in. `docs/operating.md` describes
each; a test compares. What is wrong with one is a `BadSetting`, never a traceback.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, Field, ValidationError, field_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict

from sandbox.choose import DEFAULT_ENGINE, SandboxName, SandboxSettings
from sandbox.image import Base

PACKAGE = Path(__file__).parent
BASES = {"auto": None, "python": Base.PYTHON, "debian": Base.DEBIAN}


def default_problems() -> Path:
    """The copy installed beside the package, else the checkout's folder in the same place."""
    packaged = PACKAGE.parent / "judge_problems"
    return packaged if packaged.is_dir() else PACKAGE.parent / "problems"


def default_cache() -> Path:
    """Where wheels for images are kept between builds."""
    return Path.home() / ".cache" / "judge"


def default_data() -> Path:
    """Where the embedded database lives; root's home is closed to the user it runs as."""
    if os.geteuid() == 0:
        return Path("/var/lib/judge")
    return Path.home() / ".local" / "share" / "judge"


def default_config() -> Path:
    """Where a user's own configuration lives."""
    return Path.home() / ".config" / "judge"


class BadSetting(Exception):
    """A setting has a value it cannot have; the message names the variable and says what it may be.

    One line for each such setting.
    """


class Settings(BaseSettings):
    """The judge's settings; each is an environment variable with the prefix JUDGE_."""

    model_config = SettingsConfigDict(env_prefix="JUDGE_", env_ignore_empty=True, frozen=True)

    problems: Path = Field(
        default_factory=default_problems, description="folder that holds the problem folders"
    )
    sandbox: SandboxName = Field(
        default="auto", description="sandbox to use where a command is not told which"
    )
    cache: Path = Field(
        default_factory=default_cache, description="folder for wheels kept between image builds"
    )
    docker_host: str = Field(
        default=DEFAULT_ENGINE,
        validation_alias=AliasChoices("JUDGE_DOCKER_HOST", "DOCKER_HOST"),
        description="address of the Docker engine; DOCKER_HOST is read when it is not set",
    )
    base: Literal["auto", "python", "debian"] = Field(
        default="auto",
        description="what the image is built on; auto takes the first that can be had",
    )
    runtime: str = Field(
        default="", description='OCI runtime for Docker boxes, "runsc" for one; else the engine\'s'
    )
    bwrap: Path | None = Field(
        default=None, description="bubblewrap to use instead of the bundled one"
    )
    pip_options: str = Field(
        default="", description="added to `pip download` when wheels for an image are fetched"
    )

    database_url: str = Field(
        default="",
        pattern=r"^$|^postgres(ql)?(\+psycopg)?://.+",
        description="PostgreSQL to use, as postgresql://user:password@host/name; "
        "where it is not set, `judge serve` runs one of its own",
    )
    data: Path = Field(
        default_factory=default_data, description="folder of the database that `judge serve` runs"
    )
    slots: int = Field(
        default=0, ge=0, le=256, description="submissions judged at once; 0 is one per processor"
    )
    allowed_hosts: str = Field(
        default="",
        description="names, separated by commas, by which the service may be addressed besides "
        "IP addresses, localhost and the machine's own name",
    )
    trusted_proxies: str = Field(
        default="127.0.0.1,::1",
        description="addresses or networks, separated by commas, of proxies whose forwarding "
        "headers are believed",
    )
    queue_limit: int = Field(
        default=1000, ge=1, description="submissions that may wait or be judged at once, in all"
    )
    student_limit: int = Field(default=200, ge=1, description="the same, of one student")
    hourly_quota: int = Field(
        default=0, ge=0, description="submissions one student may make in an hour; 0 is no limit"
    )
    language_servers: int = Field(
        default=4,
        ge=0,
        le=256,
        description="editors that one process completes for at once; 0 turns it off",
    )
    log: Literal["auto", "json", "text"] = Field(
        default="auto", description="form of the log; auto is text on a terminal, else JSON lines"
    )
    server: str = Field(
        default="http://127.0.0.1:8000",
        pattern=r"^https?://.+",
        description="address of the service that `judge submit` uses",
    )
    github: bool = Field(
        default=False,
        validation_alias=AliasChoices("JUDGE_GITHUB", "GITHUB_ACTIONS"),
        description="whether `judge verify` runs in a GitHub workflow, and annotates files there; "
        "GITHUB_ACTIONS is read when it is not set",
    )
    github_summary: Path | None = Field(
        default=None,
        validation_alias=AliasChoices("JUDGE_GITHUB_SUMMARY", "GITHUB_STEP_SUMMARY"),
        description="file that `judge verify` adds its summary to then; GITHUB_STEP_SUMMARY is "
        "read when it is not set",
    )
    token: str = Field(
        default="",
        pattern=r"^$|^[!-~]{20,200}$",
        description="who you are to the service, for `judge submit`: 20 to 200 characters "
        "of your choice",
    )
    config: Path = Field(
        default_factory=default_config,
        description="folder where `judge submit` keeps the token it chose for you",
    )

    @property
    def processors(self) -> int:
        """Submissions to judge at once."""
        return self.slots or os.cpu_count() or 1

    @field_validator("pip_options")
    @classmethod
    def _has_words(cls, options: str) -> str:
        shlex.split(options)  # raises ValueError when a quotation mark is missing
        return options

    def for_sandbox(self) -> SandboxSettings:
        """What the sandbox needs to know. No box may see the problems."""
        return SandboxSettings(
            cache_dir=self.cache,
            engine_url=self.docker_host,
            base=BASES[self.base],
            runtime=self.runtime,
            bwrap=self.bwrap,
            hidden=(self.problems, default_problems()),
            pip_options=tuple(shlex.split(self.pip_options)),
        )


def load_settings() -> Settings:
    """The settings in force; raises `BadSetting`."""
    try:
        return Settings()
    except ValidationError as error:
        raise BadSetting("\n".join(map(_sentence, error.errors()))) from None


def _sentence(error: ErrorDetails) -> str:
    """For example: JUDGE_SANDBOX: input should be 'auto', 'docker' or 'bwrap', but it is 'foo'."""
    variable = f"JUDGE_{error['loc'][0]}".upper()
    words = error["msg"].removeprefix("Value error, ")
    return f"{variable}: {words[0].lower()}{words[1:]}, but it is {error['input']!r}."
