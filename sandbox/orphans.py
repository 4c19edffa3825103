"""What Docker's boxes leave behind when their launcher is killed, and whose it is.

Theory of operation
-------------------
Every container and volume says whose it is. Where the owner's process can be looked up
(same boot, same pid namespace), that decides. A launcher which itself runs in a container of the
same engine, as under compose, also leaves its *home*: the container's id and when it was started.
Then the engine knows: a home that is gone, has ended, or was started anew since, has no launcher.

About any other owner nothing is known. A box of it whose launcher was killed ends by itself,
because its stdin does; so what has ended is removed. A paused one cannot end, and is of no use to a
living launcher either, which replaces it. A volume is removed when it is old enough that its
launcher is not just about to use it, and the engine refuses while any container does. Should the
launcher live and have lost all its boxes at that moment, it makes the folder again before the next.
"""

from __future__ import annotations

from dataclasses import dataclass

import docker
from docker.errors import NotFound

from sandbox.owner import Owner, OwnerState, own_container

YOUNG_S = 600.0  # whatever a launcher makes, it uses within seconds
UNUSED = frozenset({"", "created"})
ENDED = frozenset({"exited", "dead", "paused"})


def own_home(client: docker.DockerClient) -> str:
    """Where this process runs, if that is a container of this engine; else ""."""
    container = own_container()
    started = _started(client, container) if container else ""
    return f"{container}@{started}" if started else ""


@dataclass(frozen=True)
class Leftover:
    """A container or volume: its owner's label, the owner's home, and the state of a container."""

    owner: str
    home: str
    state: str  # "" for a volume
    age_s: float


class Registry:
    """Tells orphans from what is in use, asking the engine about each home once."""

    def __init__(self, client: docker.DockerClient, *, same_machine: bool, young_s: float) -> None:
        self._client = client
        self._young_s = young_s
        self._same_machine = same_machine
        self._started: dict[str, str] = {}

    def is_orphan(self, left: Leftover) -> bool:
        """Whether nobody will come back for it."""
        owner = Owner.parse(left.owner)
        if owner is None:
            return False
        match owner.state(same_machine=self._same_machine):
            case OwnerState.DEAD:
                return True
            case OwnerState.ALIVE:
                return False
        return not self._stands(left.home) if left.home else self._idle(left)

    def _idle(self, left: Leftover) -> bool:
        """Whether its launcher, of which nothing is known, would not miss it."""
        return left.state in ENDED or (left.state in UNUSED and left.age_s > self._young_s)

    def _stands(self, home: str) -> bool:
        container, _, started = home.partition("@")
        if container not in self._started:
            self._started[container] = _started(self._client, container)
        return self._started[container] == started


def _started(client: docker.DockerClient, container: str) -> str:
    """When a container was started, "" when it does not run or is not the engine's."""
    try:
        state = client.api.inspect_container(container)["State"]
    except NotFound:
        return ""
    return str(state["StartedAt"]) if state["Running"] else ""
