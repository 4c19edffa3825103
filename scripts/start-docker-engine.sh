#!/usr/bin/env bash
# Start a Docker engine in the background unless one answers already, and wait until it does.
# Its output goes to the file named by DOCKERD_LOG.
set -euo pipefail

log=${DOCKERD_LOG:-/var/log/judge-dockerd.log}
wait_s=60
as_root=()
options=()
if [ "$(id -u)" -ne 0 ]; then
    as_root=(sudo)
    options=(--group "$(id -g)") # so that whoever asked for the engine may use it
fi

engine_answers() {
    timeout 10 docker version --format '{{.Server.Version}}' >/dev/null 2>&1
}

if engine_answers; then
    exit 0
fi

# An engine that was killed leaves its process id behind, and the next one refuses to start while
# any process has that id.
forget_if_gone() {
    local file=$1 name=$2 pid
    pid=$("${as_root[@]}" cat "$file" 2>/dev/null) || return 0
    if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != "$name" ]; then
        "${as_root[@]}" rm -f "$file"
    fi
}
forget_if_gone /var/run/docker.pid dockerd
forget_if_gone /var/run/docker/containerd/containerd.pid containerd

echo "starting the Docker engine, see $log"
"${as_root[@]}" setsid sh -c 'exec dockerd "$@" >>"$0" 2>&1 </dev/null' "$log" "${options[@]}" &
dockerd_pid=$!
for _ in $(seq "$wait_s"); do
    if engine_answers; then
        exit 0
    fi
    if [ ! -d "/proc/$dockerd_pid" ]; then
        break
    fi
    sleep 1
done

echo "the Docker engine does not answer; the end of $log:" >&2
"${as_root[@]}" tail -n 20 "$log" >&2
exit 1
