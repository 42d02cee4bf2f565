import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { EventBatchResponse, Problem, type EventBatch } from '@latchkey/contract';
import { Parse } from 'typebox/value';

import { migrate } from '#server/db/migrate.ts';
import { createPool } from '#server/db/pool.ts';
import { createLog } from '#server/log.ts';

import { lacksOwnCitus, startCitusCluster } from '../citus-cluster.ts';
import { runLatchkey } from '../command-line.ts';
import { eventually } from '../eventually.ts';
import { lacksPostgres, startInstalledPostgres } from '../installed-postgres.ts';
import { createServiceHome } from '../service-process.ts';
import { failuresOf, issueForLoad } from './loaded-service.ts';
import { startRecordedLoad } from './recorded-load.ts';
import { verifyLedger } from './verify-ledger.ts';

const CLIENTS = 8;
const log = createLog({ level: 'silent' });

function anyBatch(size: number): EventBatch {
  const occurredAt = new Date().toISOString();
  return {
    install_id: randomUUID(),
    session_id: randomUUID(),
    app_version: '1.0',
    events: Array.from({ length: size }, () => ({
      event_id: randomUUID(),
      name: 'app_started',
      occurred_at: occurredAt,
    })),
  };
}

/** The outcomes of clients that send events, and send a batch again until it is accepted. */
class EventClients {
  readonly sent: string[] = [];
  readonly failures: { readonly status: number; readonly code: string; retryAfter: string }[] = [];
  accepted = 0;
  #stopped = false;
  readonly #running: Promise<unknown>;

  constructor(url: string) {
    this.#running = Promise.all(Array.from({ length: CLIENTS }, () => this.#run(url)));
    this.#running.catch(() => {});
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(url: string): Promise<void> {
    while (!this.#stopped) {
      const batch = anyBatch(5);
      this.sent.push(...batch.events.map(({ event_id: id }) => id));
      await eventually(() => this.#send(url, batch));
    }
  }

  /** Returns whether the batch was answered with 200. */
  async #send(url: string, batch: EventBatch): Promise<boolean> {
    const response = await fetch(`${url}/api/v1/events`, {
      method: 'POST',
      body: JSON.stringify(batch),
      headers: { 'content-type': 'application/json' },
    });
    const body: unknown = await response.json();
    if (response.status === 200) {
      const { accepted, dropped } = Parse(EventBatchResponse, body);
      assert.equal(accepted + dropped, batch.events.length);
      this.accepted += accepted;
      return true;
    }
    const retryAfter = response.headers.get('retry-after') ?? '';
    this.failures.push({ status: response.status, code: Parse(Problem, body).code, retryAfter });
    return false;
  }
}

async function readIds(url: string): Promise<string[]> {
  const pool = createPool({ url }, { maxConnections: 1, log });
  try {
    const { rows } = await pool.query<{ event_id: string }>('select event_id from events');
    return rows.map((row) => row.event_id).toSorted();
  } finally {
    await pool.end();
  }
}

test(
  'a stopped worker of Citus fails events with 503 and nothing else, and none is lost or stored twice',
  { skip: lacksOwnCitus || lacksPostgres },
  async () => {
    await using resources = new AsyncDisposableStack();
    const directory = await mkdtemp(join(tmpdir(), 'latchkey-citus-'));
    resources.defer(() => rm(directory, { recursive: true, force: true }));
    const cluster = resources.use(await startCitusCluster(directory));
    const url = await cluster.createDatabase('latchkey');
    const settings = {
      DATABASE_URL: url,
      LATCHKEY_SECRET: 'the secret of a service on a cluster',
      LATCHKEY_EVENTS_RATE: '100000/100000',
      LATCHKEY_STORAGE_QUOTA_MIB: '1000',
    };
    const pool = createPool({ url }, { maxConnections: 1, log });
    await migrate(pool);
    await pool.end();
    const spread = await runLatchkey(['spread', '--yes'], { directory, settings });
    assert.equal(spread.code, 0, spread.stderr);

    const home = resources.use(await createServiceHome());
    const service = await home.start(settings);
    const keys = await issueForLoad(home, settings);
    const load = resources.use(startRecordedLoad(async () => service.url, keys));
    const clients = new EventClients(service.url);
    await load.waitForAnswers(50);
    await eventually(() => clients.accepted >= 50);
    const worker = cluster.servers[1];
    await worker?.stop();
    await eventually(() => clients.failures.length >= 10);
    await load.waitForAnswers(50);
    const ready = await fetch(`${service.url}/api/v1/health/ready`);
    assert.equal(ready.status, 200);
    await worker?.start();
    const accepted = clients.accepted;
    await eventually(() => clients.accepted >= accepted + 50);
    await clients.stop();
    const ledger = await load.stop();

    const failures = new Set(clients.failures.map(({ status, code }) => `${status} ${code}`));
    assert.deepEqual([...failures], ['503 database_unavailable']);
    for (const { retryAfter } of clients.failures) assert.match(retryAfter, /^[1-9]\d*$/u);
    assert.deepEqual(failuresOf(ledger.outcomes), []);
    await verifyLedger(service.url, ledger);
    assert.deepEqual(await readIds(url), clients.sent.toSorted());
    assert.equal((await service.stop()).code, 0);

    // A dump of the coordinator has the rows of all servers, for a PostgreSQL without Citus.
    await using plain = await startInstalledPostgres();
    const restored = await plain.createDatabase('restored');
    const file = join(plain.directory, 'latchkey.dump');
    await plain.run('pg_dump', ['--format=custom', `--file=${file}`, '--extension=plpgsql', url]);
    await plain.run('pg_restore', ['--no-owner', '--exit-on-error', `--dbname=${restored}`, file]);
    assert.deepEqual(await readIds(restored), clients.sent.toSorted());
  },
);
