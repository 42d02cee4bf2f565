#!/bin/sh
# Starts latchkey with its Node.js. Settings in /etc precede those of the package.
unset NODE_OPTIONS NODE_PATH
export NODE_ENV=production NODE_COMPILE_CACHE=/var/cache/latchkey MALLOC_ARENA_MAX=1
settings=--env-file=/etc/latchkey/latchkey.env
[ -r /etc/latchkey/latchkey.env ] || settings=
exec /usr/lib/latchkey/bin/node @FLAGS@ --env-file=/usr/lib/latchkey/package.env $settings \
  /usr/lib/latchkey/server/src/main.js "$@"
