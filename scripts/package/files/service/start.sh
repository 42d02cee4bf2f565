#!/bin/sh
# Starts latchkey with its Node.js. Settings in /etc precede those of the package.
unset NODE_OPTIONS NODE_PATH
export NODE_ENV=production NODE_COMPILE_CACHE=/var/cache/latchkey MALLOC_ARENA_MAX=1
exec /usr/lib/latchkey/bin/node @FLAGS@ \
  --env-file=/usr/lib/latchkey/package.env --env-file-if-exists=/etc/latchkey/latchkey.env \
  /usr/lib/latchkey/server/src/main.js "$@"
