# Creates the database of the official image's variables, and starts it.
set -eu
data=/var/lib/postgresql/18/docker
if [ "$(id -u)" = 0 ]; then
  install --directory --owner=postgres --mode=700 "$data"
  exec setpriv --reuid=postgres --regid=postgres --clear-groups sh "$0"
fi
if [ ! -s "$data/PG_VERSION" ]; then
  umask 077
  printf '%s' "$POSTGRES_PASSWORD" >/tmp/password
  # Several arguments are in the variable.
  initdb --pgdata="$data" --username="$POSTGRES_USER" --pwfile=/tmp/password --auth=scram-sha-256 $POSTGRES_INITDB_ARGS
  rm /tmp/password
  echo "create database $POSTGRES_DB" | postgres --single -D "$data" postgres
  echo 'host all all all scram-sha-256' >>"$data/pg_hba.conf"
fi
exec postgres -D "$data" -c listen_addresses='*' -c unix_socket_directories=''
