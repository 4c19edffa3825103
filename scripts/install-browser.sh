#!/usr/bin/env bash
# Install the browser that the tests of the page drive: Debian's Chromium. A Chromium or Chrome that
# is there already is used as it is.
set -euo pipefail

for browser in chromium chromium-browser google-chrome google-chrome-stable; do
    if command -v "$browser" >/dev/null; then
        exit 0
    fi
done

echo "installing chromium"
export DEBIAN_FRONTEND=noninteractive
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
"${as_root[@]}" apt-get update --quiet=2
"${as_root[@]}" apt-get install --quiet=2 --yes --no-install-recommends chromium fonts-dejavu-core
