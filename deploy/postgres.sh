#!/bin/sh
# Run PostgreSQL for the service: made on the first start, its password too, chosen at random.
#
# Inside this container the socket in /tmp is open to every role (`docker compose exec postgres psql
# -U postgres judge`); over the network only the role `judge` may come, with the password, and only
# to its own database. The password lies in a volume that the other services mount read-only.
set -eu
data=/var/lib/judge/database/data
password=/var/lib/judge/password/password
umask 077

if [ ! -s "$password" ]; then
    python3 -c 'import secrets; print(secrets.token_urlsafe(32))' >"$password.part"
    chmod 0444 "$password.part"
    mv "$password.part" "$password"
fi

if [ ! -e "$data" ]; then
    rm -rf "$data.part"
    initdb --pgdata="$data.part" --username=postgres --encoding=UTF8 --locale=C.UTF-8 \
        --auth-local=trust --auth-host=reject --no-instructions
    echo 'host judge judge all scram-sha-256' >>"$data.part/pg_hba.conf"
    postgres --single -D "$data.part" postgres >/dev/null <<SQL
CREATE ROLE judge LOGIN
CREATE DATABASE judge OWNER judge
SQL
    mv "$data.part" "$data" # whole or not at all: a start that was cut short is started over
fi

have=$(cat "$data/PG_VERSION")
own=$(postgres --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
if [ "$have" != "$own" ]; then
    echo "The database was made by PostgreSQL $have, this image has $own: see docs/compose.md," \
        "Upgrade." >&2
    exit 1
fi

# At every start, so that a password file that was lost and made anew is in force.
postgres --single -D "$data" postgres >/dev/null <<SQL
ALTER ROLE judge PASSWORD '$(cat "$password")'
SQL

# A client whose machine or network is gone shall not hold locks for hours.
# Each process of the judge may open some 35 connections.
exec postgres -D "$data" -c listen_addresses='*' -c unix_socket_directories=/tmp \
    -c max_connections=400 \
    -c log_checkpoints=off -c tcp_user_timeout=15s \
    -c tcp_keepalives_idle=10 -c tcp_keepalives_interval=3 -c tcp_keepalives_count=3
