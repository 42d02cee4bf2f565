import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { messageOf } from '#server/lib/unknown-values.ts';

import type { Account } from './account.ts';
import { signalProcess } from './processes.ts';

/**
 * Supervises PostgreSQL as its parent. It runs in its own session, so that the terminal's Ctrl-C reaches neither it nor
 * PostgreSQL. Its standard input is a pipe from the service. When that closes, however the service ended, it requests a
 * fast shutdown (SIGINT) until PostgreSQL has ended; it repeats the signal because PostgreSQL loses a signal early in
 * its start. On SIGUSR1 it requests an immediate shutdown (SIGQUIT): it knows its child, whereas the process id in the
 * cluster's lock file could be that of another process. It changes its working directory, so that only PostgreSQL works
 * in the cluster's.
 */
const SCRIPT = `
trap : HUP INT TERM
trap 'kill -QUIT "$postgres"' USR1
exec 9<&0
"$@" 9<&- </dev/null &
postgres=$!
cd /
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
 * Time for a fast shutdown, then for an immediate one. In an immediate one the postmaster kills children that do not
 * end after five seconds (`SIGKILL_CHILDREN_AFTER_SECS` in its source); if it were killed earlier, they would remain.
 */
const FAST_SHUTDOWN_MS = 8_000;
const IMMEDIATE_SHUTDOWN_MS = 8_000;

/** The program to start. */
export interface Launch {
  readonly postgres: string;
  readonly args: readonly string[];
  readonly account: Account | null;
  readonly cluster: string;
  /** The cluster's path for PostgreSQL, which starts in it. */
  readonly dataPath: string;
  /** Receives the server's log. */
  readonly logDescriptor: number;
}

/** A PostgreSQL that was started and may have ended. */
export interface SupervisedServer {
  /** Resolves to the exit code or signal as text when the server has ended. Never rejects. */
  readonly ended: Promise<string>;
  hasEnded(): boolean;
  /** Requests a fast shutdown, which does not wait for clients, then an immediate one if that takes too long. */
  stop(fastShutdownMs?: number): Promise<void>;
}

/** Starts PostgreSQL under its supervisor, and does not wait until it accepts connections. */
export function launchServer(launch: Launch): SupervisedServer {
  const { account, cluster, dataPath, logDescriptor } = launch;
  const command = [launch.postgres, '-D', dataPath, ...launch.args];
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'latchkey-postgres', ...command], {
    ...account,
    cwd: cluster,
    detached: true,
    env: { PATH: process.env['PATH'], TZ: 'UTC' },
    stdio: ['pipe', logDescriptor, logDescriptor],
  });
  let ended = false;
  const end = describeEnd(once(child, 'exit')).finally(() => {
    ended = true;
    child.stdin?.destroy();
  });
  // A finished command may exit while the server runs: that closes the pipe, which stops the server.
  child.unref();
  child.stdin?.on('error', () => {
    // The supervisor has ended, which `ended` reports.
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
