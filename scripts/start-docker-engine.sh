#!/usr/bin/env bash
# Start a Docker engine in the background unless one answers already, and wait until it does.
# Its output goes to the file named by DOCKERD_LOG.
set -euo pipefail

log=${DOCKERD_LOG:-/var/log/judge-dockerd.log}
wait_s=60

engine_answers() {
    timeout 10 docker version --format '{{.Server.Version}}' >/dev/null 2>&1
}

if engine_answers; then
    exit 0
fi

# An engine that was killed leaves its process id behind, and the next one refuses to start while
# any process has that id.
forget_if_gone() {
    local file=$1 name=$2
    if [ -f "$file" ] && [ "$(cat "/proc/$(cat "$file")/comm" 2>/dev/null)" != "$name" ]; then
        rm -f "$file"
    fi
}
forget_if_gone /var/run/docker.pid dockerd
forget_if_gone /var/run/docker/containerd/containerd.pid containerd

echo "starting the Docker engine, see $log"
setsid dockerd >>"$log" 2>&1 </dev/null &
dockerd_pid=$!
for _ in $(seq "$wait_s"); do
    if engine_answers; then
        exit 0
    fi
    if ! kill -0 "$dockerd_pid" 2>/dev/null; then
        break
    fi
    sleep 1
done

echo "the Docker engine does not answer; the end of $log:" >&2
tail -n 20 "$log" >&2
exit 1
