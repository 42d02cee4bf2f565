#!/bin/sh
# Starts latchkey with its Node.js. Settings in /etc precede those of the package.
unset NODE_OPTIONS NODE_PATH
export NODE_ENV=production NODE_COMPILE_CACHE=/var/cache/latchkey MALLOC_ARENA_MAX=1
settings=--env-file=/etc/latchkey/latchkey.env
if ! [ -r /etc/latchkey/latchkey.env ]; then
  # Without its settings, the service would create another database, with another master secret.
  if [ "$(id -un)" = latchkey ] && { [ -e /etc/latchkey/latchkey.env ] || ! [ -x /etc/latchkey ]; }; then
    echo 'latchkey: the account latchkey cannot read /etc/latchkey/latchkey.env: run "chmod 755 /etc/latchkey", "chgrp latchkey /etc/latchkey/latchkey.env" and "chmod 640 /etc/latchkey/latchkey.env".' >&2
    exit 78
  fi
  settings=
fi
exec /usr/lib/latchkey/bin/node @FLAGS@ --env-file=/usr/lib/latchkey/package.env $settings \
  /usr/lib/latchkey/server/src/main.js "$@"
