"""Whether this container's worker tells the database regularly that it lives; the exit status says.

The health check of the worker service. A worker that waits for its engine is alive, too; /readyz
and /metrics of the service tell more.
"""

from __future__ import annotations

import os
import socket
import sys

import psycopg

SILENCE_S = 15
CONNECT_S = 5
SEEN = "SELECT 1 FROM workers WHERE host = %s AND seen_at > now() - make_interval(secs => %s)"


def main() -> int:
    """0 when the worker was heard of lately."""
    url = os.environ["JUDGE_DATABASE_URL"].replace("+psycopg:", ":", 1)
    with psycopg.connect(url, connect_timeout=CONNECT_S) as connection:
        return 0 if connection.execute(SEEN, (socket.gethostname(), SILENCE_S)).fetchone() else 1


if __name__ == "__main__":
    sys.exit(main())
