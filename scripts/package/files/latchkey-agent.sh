#!/bin/sh
# Starts the agent with the Node.js that lies in the same package, whatever links lead here.
self=$0
[ -L "$self" ] && self=$(command -p readlink -f "$self")
case $self in
  */*) lib=${self%/*}/../lib ;;
  *) lib=../lib ;;
esac
# What this machine sets for other programs of Node.js is not for the agent.
unset NODE_OPTIONS NODE_PATH
# One arena of malloc for all threads.
export MALLOC_ARENA_MAX=1
# Small rather than fast. Without code made at run time, systemd's MemoryDenyWriteExecute=yes can be set.
exec "$lib/node" --jitless --max-semi-space-size=1 --expose-gc "$lib/latchkey-agent.cjs" "$@"
