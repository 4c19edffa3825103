#!/bin/sh
# Run a command with the database's password where libpq looks for one. The file is written by
# postgres.sh; an address that holds a password of its own comes before it.
set -eu
password=/var/lib/judge/password/password
if [ -r "$password" ]; then
    PGPASSWORD=$(cat "$password")
    export PGPASSWORD
fi
exec "$@"
