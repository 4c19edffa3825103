#!/usr/bin/env bash
# Install, from Debian's packages, what the Docker sandbox needs: the engine, iptables (which it
# calls), debootstrap (for an image without a registry), and the compose tool. Packages that are
# there stay as they are.
set -euo pipefail

missing=()
for package in docker.io iptables debootstrap docker-compose; do
    dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' ||
        missing+=("$package")
done
if [ "${#missing[@]}" -eq 0 ]; then
    exit 0
fi

echo "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
"${as_root[@]}" apt-get update --quiet=2
"${as_root[@]}" apt-get install --quiet=2 --yes --no-install-recommends "${missing[@]}"
