/** The PostgreSQL of the tests with TLS, whose certificate and rules of access a test replaces while it runs. */
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { Client } from 'pg';

import type { Certificate } from '../../agent/test/certificates.ts';
import { chooseAccount } from '#server/db/embedded/account.ts';
import { findBinaries } from '#server/db/embedded/binaries.ts';

import { eventually } from './eventually.ts';
import { startServer } from './installed-postgres.ts';
import { findFreePort } from './ports.ts';

/** What a server accepts. */
export interface TlsSettings {
  /** Null: the server has no TLS. */
  readonly certificate: Certificate | null;
  /** Who issues certificates of clients; default: nobody. */
  readonly clientAuthority?: Certificate;
  /** Lines of `pg_hba.conf` for TCP. */
  readonly rules: readonly string[];
}

/** A running server. */
export interface TlsPostgres extends AsyncDisposable {
  readonly port: number;
  /** Its database `postgres`, by the socket. */
  readonly socketUrl: string;
  /** Waits until new connections have these settings. */
  configure(settings: TlsSettings): Promise<void>;
  /** Runs a statement as the owner. */
  query(sql: string): Promise<Record<string, unknown>[]>;
}

/** Starts the server on a free port of this machine. */
export async function startTlsPostgres(): Promise<TlsPostgres> {
  await using resources = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-tls-'));
  resources.defer(() => rm(directory, { recursive: true, force: true }));
  const account = await chooseAccount(undefined, null);
  const { postgres } = await findBinaries(account, directory);
  const port = await findFreePort();
  const settings = ["listen_addresses = 'localhost'"];
  const server = resources.use(
    await startServer({ bin: dirname(postgres), directory, port, settings }),
  );
  const { url, data } = server;
  const write = async (name: string, content: string): Promise<void> => {
    const path = join(data, name);
    await writeFile(path, content, { mode: 0o600 });
    if (account !== null) await chown(path, account.uid, account.gid);
  };
  const kept = resources.move();
  return {
    port,
    socketUrl: url,
    query: (sql) => query(url, sql),
    async configure({ certificate, clientAuthority, rules }) {
      await write('server.crt', certificate?.cert ?? '');
      await write('server.key', certificate?.key ?? '');
      await write('clients.crt', clientAuthority?.cert ?? '');
      await write('pg_hba.conf', `local all all trust\n${rules.join('\n')}\n`);
      await query(url, `alter system set ssl = ${certificate === null ? 'off' : 'on'}`);
      const clients = clientAuthority === undefined ? '' : 'clients.crt';
      await query(url, `alter system set ssl_ca_file = '${clients}'`);
      await reload(url);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function reload(url: string): Promise<void> {
  const loadedAt = 'select pg_conf_load_time()::text as at';
  const [before] = await query(url, loadedAt);
  await query(url, 'select pg_reload_conf()');
  await eventually(async () => (await query(url, loadedAt))[0]?.['at'] !== before?.['at']);
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
