#!/bin/sh
# Starts the agent with the Node.js of the same package, also through symbolic links.
self=$0
[ -L "$self" ] && self=$(command -p readlink -f "$self")
case $self in
  */*) lib=${self%/*}/../lib ;;
  *) lib=../lib ;;
esac
# Ignores settings for other Node.js programs of this machine.
unset NODE_OPTIONS NODE_PATH
# One arena of malloc for all threads.
export MALLOC_ARENA_MAX=1
# Without a JIT compiler: 12 MB less memory, nearly twice the processor time; allows MemoryDenyWriteExecute=yes.
[ "${LATCHKEY_AGENT_JITLESS:-no}" = yes ] && jitless=--jitless || jitless=
# V8 optimizes for memory.
exec "$lib/node" $jitless --max-semi-space-size=1 --optimize-for-size "$lib/latchkey-agent.cjs" "$@"
