"""What this machine offers for boxes: what is there, what is missing, and how to get it.

Every finding is tried or read here and now; nothing is remembered. A missing thing is not an
error: a judge needs one launcher, not two. `judge doctor` shows the list.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from sandbox import cgroups, engine
from sandbox.boxes import SandboxError
from sandbox.bwrap_boxes import GET_BWRAP, NOBODY, find_binary
from sandbox.image import ImageBuilder
from sandbox.syscall_policy import ARCHITECTURE

ENGINE_SILENCE_S = 5
PROBE_S = 10
APPARMOR_PROFILE = "judge-box"
APPARMOR_ENABLED = Path("/sys/module/apparmor/parameters/enabled")
APPARMOR_PROFILES = Path("/sys/kernel/security/apparmor/profiles")
APPARMOR_FILE = Path(__file__).with_name("image") / "apparmor-judge"
USERNS_SWITCHES = {  # file -> the value that forbids
    Path("/proc/sys/user/max_user_namespaces"): "0",
    Path("/proc/sys/kernel/unprivileged_userns_clone"): "0",
    Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"): "1",
}


class State(StrEnum):
    """How good a finding is. DEGRADED works, with less protection or precision."""

    OK = "ok"
    MISSING = "missing"
    DEGRADED = "degraded"


@dataclass(frozen=True)
class Finding:
    """One thing looked at. `remedy` is a sentence on how to get it, empty when there is no need."""

    name: str
    state: State
    detail: str
    remedy: str = ""


@dataclass(frozen=True)
class EngineFacts:
    """What an engine says about itself."""

    version: str
    architecture: str
    cgroup_version: str
    limits_memory: bool
    limits_swap: bool
    runtimes: tuple[str, ...]
    security: tuple[str, ...]


def survey(builder: ImageBuilder, bwrap: Path | None = None) -> list[Finding]:
    """Everything about this machine that matters to boxes, in a sensible reading order.

    `builder` names the engine to ask; `bwrap` is a configured binary, if any.
    """
    return [
        _processor(),
        *_docker_findings(builder),
        *_bwrap_findings(bwrap),
        _user_namespaces(),
        _apparmor(),
    ]


def require_processor(architecture: str, whose: str) -> None:
    """Raises `SandboxError` unless boxes can run on processors of this kind."""
    if architecture != ARCHITECTURE:
        raise SandboxError(
            f"boxes run on {ARCHITECTURE} only, and {whose} is {architecture}",
            f"Use a machine with an {ARCHITECTURE} processor.",
        )


def require_engine(url: str) -> EngineFacts:
    """What the engine at `url` says; raises `SandboxError` when it cannot be used.

    `EngineGone` when none answers within seconds.
    """
    with engine.connected(url, ENGINE_SILENCE_S) as client:
        info = client.info()
    facts = _facts(info)
    require_processor(facts.architecture, "the Docker engine's machine")
    return facts


def _facts(info: Mapping[str, Any]) -> EngineFacts:
    return EngineFacts(
        version=str(info.get("ServerVersion", "?")),
        architecture=str(info.get("Architecture", "?")),
        cgroup_version=str(info.get("CgroupVersion", "1")),
        limits_memory=bool(info.get("MemoryLimit")),
        limits_swap=bool(info.get("SwapLimit")),
        runtimes=tuple(sorted(info.get("Runtimes") or {})),
        security=tuple(info.get("SecurityOptions") or ()),
    )


def require_bwrap(binary: Path) -> None:
    """Make an empty box with `binary`; raises `SandboxError` with the cause when it cannot."""
    require_processor(platform.machine(), "this machine")
    command = [str(binary), "--unshare-pid", "--unshare-net", "--unshare-ipc"]
    command += ["--ro-bind", "/", "/"]
    command += ["--proc", "/proc", *(["--unshare-user"] if os.geteuid() else []), "--", "true"]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PROBE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SandboxError(f"{binary} cannot be run ({error})", GET_BWRAP) from None
    if done.returncode != 0:
        cause = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise SandboxError(f"bubblewrap cannot make a box here ({cause})", _userns_remedy())


def loaded_apparmor_profile() -> str:
    """Our AppArmor profile's name where it is loaded, else "" (also when that cannot be seen)."""
    try:
        loaded = APPARMOR_PROFILES.read_text().splitlines()
    except OSError:
        return ""
    return APPARMOR_PROFILE if any(p.startswith(f"{APPARMOR_PROFILE} ") for p in loaded) else ""


# --- Docker -------------------------------------------------------------------------------------


def _docker_findings(builder: ImageBuilder) -> list[Finding]:
    try:
        facts = require_engine(builder.engine_url)
    except SandboxError as error:
        return [Finding("docker engine", State.MISSING, error.problem, error.remedy)]
    return [
        Finding("docker engine", State.OK, f"version {facts.version} at {builder.engine_url}"),
        _engine_limits(facts),
        _image(builder),
        _runsc(facts),
    ]


def _engine_limits(facts: EngineFacts) -> Finding:
    detail = f"cgroup v{facts.cgroup_version}"
    if not facts.limits_memory:
        return Finding(
            "docker limits", State.DEGRADED, f"{detail}, the engine cannot bound memory",
            "Run the engine as root, or delegate the memory controller to it.",
        )  # fmt: skip
    if not facts.limits_swap:
        return Finding(
            "docker limits", State.DEGRADED, f"{detail}, memory is bounded but swap is not",
            "Turn swap off, or boot with swapaccount=1.",
        )  # fmt: skip
    return Finding("docker limits", State.OK, f"{detail}, memory and swap are bounded")


def _image(builder: ImageBuilder) -> Finding:
    try:
        found = builder.current()
    except SandboxError as error:
        return Finding("docker image", State.MISSING, error.problem, error.remedy)
    if found is None:
        return Finding("docker image", State.MISSING, "not built", "Run: judge sandbox build.")
    return Finding("docker image", State.OK, f"{found.tag} ({found.digest[:19]})")


def _runsc(facts: EngineFacts) -> Finding:
    if "runsc" in facts.runtimes:
        return Finding("gVisor (runsc)", State.OK, "known to the engine; used when configured")
    return Finding(
        "gVisor (runsc)", State.MISSING, "optional; not among the engine's runtimes",
        "Install gVisor and register runsc with the engine to have a second kernel in between.",
    )  # fmt: skip


# --- bubblewrap -----------------------------------------------------------------------------------


def _bwrap_findings(configured: Path | None) -> list[Finding]:
    try:
        binary = find_binary(configured)
        require_bwrap(binary)
    except SandboxError as error:
        return [Finding("bubblewrap", State.MISSING, error.problem, error.remedy)]
    return [Finding("bubblewrap", State.OK, str(binary)), _bwrap_memory()]


def _bwrap_memory() -> Finding:
    version = cgroups.available()
    if version:
        return Finding("bubblewrap memory", State.OK, f"control groups, version {version.value}")
    return Finding(
        "bubblewrap memory", State.DEGRADED,
        "bounded by address space and a watchdog, not by the kernel's count",
        "Run as root where control groups are writable, or use Docker.",
    )  # fmt: skip


# --- processor and kernel -------------------------------------------------------------------------


def _processor() -> Finding:
    name = "processor"
    try:
        require_processor(platform.machine(), "this machine")
    except SandboxError as error:
        return Finding(name, State.MISSING, error.problem, error.remedy)
    return Finding(name, State.OK, platform.machine())


def _user_namespaces() -> Finding:
    name = "user namespaces"
    forbidding = _forbidding_switch()
    probed = _probe_user_namespace()
    if probed or (probed is None and forbidding is None):
        return Finding(name, State.OK, "allowed for ordinary users")
    detail = f"{forbidding} forbids them" if forbidding else "refused by the kernel"
    return Finding(
        name, State.DEGRADED, f"{detail}; each submission gets a box of its own", _userns_remedy()
    )


def _probe_user_namespace() -> bool | None:
    """Whether nobody may make one and mount in it; None when there is no tool to try with.

    Ubuntu's restriction lets them be made, and then refuses everything inside.
    """
    unshare = shutil.which("unshare")
    if unshare is None:
        return None
    user = NOBODY if os.geteuid() == 0 else None
    done = subprocess.run(
        [unshare, "--user", "--map-root-user", "--mount", "true"],
        capture_output=True, check=False, cwd="/",
        user=user, group=user, extra_groups=None if user is None else [],
    )  # fmt: skip
    return done.returncode == 0


def _forbidding_switch() -> Path | None:
    for path, value in USERNS_SWITCHES.items():
        if path.exists() and path.read_text().strip() == value:
            return path
    return None


def _userns_remedy() -> str:
    switch = _forbidding_switch()
    if switch is None:
        return "Allow unprivileged user namespaces, or use Docker."
    name = ".".join(switch.parts[3:])
    value = {"0": "1", "1": "0"}[USERNS_SWITCHES[switch]] if "max" not in name else "15000"
    return f"Run: sudo sysctl -w {name}={value}."


def _apparmor() -> Finding:
    if not _apparmor_enabled():
        return Finding("AppArmor", State.OK, "not in force on this host; nothing to allow")
    if loaded_apparmor_profile():
        return Finding("AppArmor", State.OK, f"profile {APPARMOR_PROFILE} is loaded")
    return Finding(
        "AppArmor", State.DEGRADED,
        f"in force, and the profile {APPARMOR_PROFILE} is not loaded or cannot be seen",
        f"Run: sudo install -m 644 {APPARMOR_FILE} /etc/apparmor.d/{APPARMOR_PROFILE} && "
        f"sudo apparmor_parser -r /etc/apparmor.d/{APPARMOR_PROFILE}.",
    )  # fmt: skip


def _apparmor_enabled() -> bool:
    try:
        return APPARMOR_ENABLED.read_text().strip() == "Y"
    except OSError:
        return False
