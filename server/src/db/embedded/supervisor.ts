import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { messageOf } from '#server/lib/error-message.ts';

import type { Account } from './system-accounts.ts';
import type { DirectoryForChild } from './directory-handle.ts';
import { signalProcess } from './processes.ts';

/**
 * Stands between the service and PostgreSQL, in a session of its own, so that the terminal's Ctrl-C reaches neither it nor
 * PostgreSQL before the service has finished. Its standard input is a pipe from the service: when that closes, however
 * the service ended, it asks PostgreSQL for a fast shutdown (SIGINT), again and again until PostgreSQL is gone, because a
 * request that comes before PostgreSQL listens for it is lost. SIGUSR1 has it ask for an immediate shutdown (SIGQUIT): it
 * knows its child, whereas the process id in a file of the cluster could be any other process's.
 */
const SCRIPT = `
trap : HUP INT TERM
trap 'kill -QUIT "$postgres"' USR1
exec 9<&0
"$@" 9<&- </dev/null &
postgres=$!
(
  while read -r _ <&9; do :; done
  while kill -INT "$postgres"; do sleep 0.5; done
) >/dev/null 2>&1 &
guard=$!
exec 9<&-
while kill -0 "$postgres" 2>/dev/null; do wait "$postgres"; code=$?; done
kill "$guard" 2>/dev/null
exit "\${code:-1}"
`;

/**
 * How long a fast shutdown may take, then an immediate one. In an immediate one the postmaster itself kills, after five
 * seconds, what does not end (`SIGKILL_CHILDREN_AFTER_SECS` of its source): killed earlier, it would leave that behind.
 */
const FAST_SHUTDOWN_MS = 8_000;
const IMMEDIATE_SHUTDOWN_MS = 8_000;

/** What to start, and where. */
export interface Launch {
  readonly postgres: string;
  readonly args: readonly string[];
  readonly account: Account | null;
  /** The cluster's directory, here and as PostgreSQL sees it. */
  readonly cluster: string;
  readonly clusterForChild: DirectoryForChild;
  /** Where its log lines go. */
  readonly logDescriptor: number;
}

/** A PostgreSQL that was started and may have ended since. */
export interface SupervisedServer {
  /** Fulfilled with a description of how it ended. Never rejected. */
  readonly ended: Promise<string>;
  /** Whether it has ended. */
  hasEnded(): boolean;
  /**
   * Stops it: a fast shutdown, which waits for no client; when that hangs, an immediate one.
   * @param fastShutdownMs how long the fast one may take
   */
  stop(fastShutdownMs?: number): Promise<void>;
}

/** Starts PostgreSQL under its supervisor; does not wait until it takes connections. */
export function launchServer(launch: Launch): SupervisedServer {
  const { clusterForChild, logDescriptor } = launch;
  const command = [launch.postgres, '-D', clusterForChild.path, ...launch.args];
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'latchkey-postgres', ...command], {
    ...launch.account,
    cwd: '/',
    detached: true,
    env: { PATH: process.env['PATH'], TZ: 'UTC' },
    stdio: ['pipe', logDescriptor, logDescriptor, ...clusterForChild.extraStdio],
  });
  let ended = false;
  const end = describeEnd(once(child, 'exit')).finally(() => {
    ended = true;
    child.stdin?.destroy();
  });
  // The server must not keep a finished command alive: the command's end closes the pipe, which stops the server.
  child.unref();
  child.stdin?.on('error', () => {
    // The supervisor is gone, which `ended` tells.
  });
  return {
    ended: end,
    hasEnded: () => ended,
    async stop(fastShutdownMs = FAST_SHUTDOWN_MS) {
      child.ref();
      child.stdin?.destroy();
      if (await endsWithin(end, fastShutdownMs)) return;
      if (child.pid !== undefined) signalProcess(child.pid, 'SIGUSR1');
      if (await endsWithin(end, IMMEDIATE_SHUTDOWN_MS)) return;
      if (child.pid !== undefined) signalProcess(-child.pid, 'SIGKILL');
      await end;
    },
  };
}

async function describeEnd(exit: Promise<unknown[]>): Promise<string> {
  try {
    const [code, signal] = await exit;
    return typeof signal === 'string' ? signal : `exit code ${Number(code)}`;
  } catch (error) {
    return messageOf(error);
  }
}

async function endsWithin(end: Promise<string>, ms: number): Promise<boolean> {
  const timeout = new AbortController();
  const outOfTime = sleep(ms, false, { signal: timeout.signal }).catch(() => false);
  const inTime = await Promise.race([end.then(() => true), outOfTime]);
  timeout.abort();
  return inTime;
}
