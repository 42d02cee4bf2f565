/** A primary of the installed PostgreSQL with a synchronous standby. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { queryOnce, listProcessesIn } from './embedded-postgres.ts';
import { eventually } from './eventually.ts';
import { programs, startServer, type Server } from './installed-postgres.ts';
import { findFreePort } from './ports.ts';

const run = promisify(execFile);

/** A server that also listens on an address. */
export interface ReplicatedServer extends Server {
  /** `127.0.0.1:<port>` */
  readonly host: string;
  /** Runs a statement in a database of the server. */
  query(sql: string, database?: string): Promise<Record<string, unknown>[]>;
  /** Stops all of its processes with SIGSTOP: it keeps its connections, and answers nothing. It must be killed afterwards. */
  freeze(): Promise<void>;
  /** Kills all of its processes with SIGKILL. */
  kill(): Promise<void>;
}

export interface ReplicatedPostgres extends AsyncDisposable {
  readonly primary: ReplicatedServer;
  /** `standby` in `synchronous_standby_names` of the primary. */
  readonly standby: ReplicatedServer;
  /** Waits until the standby shows every change that the primary has stored. */
  waitForReplay(): Promise<void>;
  /** Returns the URL of a database on both servers. */
  urlOf(database: string): string;
}

/** Starts both servers, and waits until the standby is synchronous. Needs `lacksPostgres` to be false. */
export async function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  await using resources = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-replicated-'));
  resources.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));
  // PostgreSQL's account enters it.
  await chmod(directory, 0o711);
  const primary = resources.use(await startOne(join(directory, 'primary')));
  const [address = '', port = ''] = primary.host.split(':');
  const source = `host=${address} port=${port} user=latchkey application_name=standby`;
  const standby = resources.use(
    await startOne(join(directory, 'standby'), async (data, spawning) => {
      const options = [
        '--no-sync',
        '--checkpoint=fast',
        '--write-recovery-conf',
        `--dbname=${source}`,
      ];
      const program = join(programs ?? '', 'pg_basebackup');
      await run(program, [...options, `--pgdata=${data}`], spawning);
    }),
  );
  await primary.query("alter system set synchronous_standby_names = 'standby'");
  await primary.query('select pg_reload_conf()');
  await eventually(async () => {
    const rows = await primary.query('select sync_state from pg_stat_replication');
    return rows[0]?.['sync_state'] === 'sync';
  });
  const kept = resources.move();
  return {
    primary,
    standby,
    async waitForReplay() {
      const [row] = await primary.query('select pg_current_wal_lsn()::text as position');
      const sql = `select pg_last_wal_replay_lsn() >= '${String(row?.['position'])}' as is_complete`;
      await eventually(async () => (await standby.query(sql))[0]?.['is_complete'] === true);
    },
    urlOf: (database) => `postgresql://latchkey@${primary.host},${standby.host}/${database}`,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function startOne(
  directory: string,
  create?: (data: string, spawning: object) => Promise<void>,
): Promise<ReplicatedServer> {
  await mkdir(directory);
  const port = await findFreePort();
  const settings = ["listen_addresses = '127.0.0.1'"];
  const bin = programs ?? '';
  const server = await startServer({ bin, directory, port, settings, ...(create && { create }) });
  return {
    ...server,
    host: `127.0.0.1:${port}`,
    query: (sql, database = 'postgres') =>
      queryOnce({ host: '127.0.0.1', port, user: 'latchkey', database }, sql),
    async freeze() {
      for (const pid of await listProcessesIn(server.data)) process.kill(pid, 'SIGSTOP');
    },
    async kill() {
      for (const pid of await listProcessesIn(server.data)) process.kill(pid, 'SIGKILL');
      await eventually(async () => (await listProcessesIn(server.data)).length === 0);
    },
  };
}
