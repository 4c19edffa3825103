"""Executes what it is told to, and answers."""

from __future__ import annotations

from sandbox.protocol import MAX_ARGUMENT_BYTES, Connection, ConnectionLost
from tests.sandbox.box_programs.messages import Do, Said


def main(box_id: str, control_in_fd: int, control_out_fd: int) -> None:
    """Serve until the launcher is gone."""
    connection = Connection.over_pipes(control_in_fd, control_out_fd, MAX_ARGUMENT_BYTES)
    while True:
        try:
            order, payload = connection.receive(Do)
        except ConnectionLost:
            return
        names: dict[str, object] = {"box_id": box_id, "payload": payload, "answer": ""}
        names |= {"control_out_fd": control_out_fd, "back": b""}
        try:
            exec(order.code, names)
        except Exception as error:  # noqa: BLE001  # whatever happens is the answer
            names["answer"] = f"{type(error).__name__}: {error}"
        connection.send(Said(str(names["answer"])), [names["back"]])  # type: ignore[list-item]
