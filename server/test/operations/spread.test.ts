/** `latchkey spread` and the doctor, on a Citus cluster. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import type { Pool } from 'pg';

import { migrate } from '#server/db/migrate.ts';
import { createPool } from '#server/db/pool.ts';
import { createPartition } from '#server/features/analytics/queries/partitions.ts';
import { summarizeEventIds } from '#server/features/analytics/queries/removal.ts';
import { createLog } from '#server/log.ts';

import { listStoredDays, storePastDay } from '../archived-events.ts';
import { lacksOwnCitus, startCitusCluster, type CitusCluster } from '../citus-cluster.ts';
import { runLatchkey } from '../command-line.ts';
import { createTestDatabase } from '../database.ts';
import { execute, spreadsTables, withDatabase } from '../test-cluster.ts';

const directory = await mkdtemp(join(tmpdir(), 'latchkey-citus-'));
const log = createLog({ level: 'silent' });
after(() => rm(directory, { recursive: true, force: true }));

const SECRET = 'a master secret for the tests alone';

interface Run {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

async function run(url: string, ...args: readonly string[]): Promise<Run> {
  const settings = { DATABASE_URL: url, LATCHKEY_SECRET: SECRET };
  const { code, stdout, stderr } = await runLatchkey(args, { directory, settings });
  return { code, out: stdout.trim(), err: stderr.trim() };
}

async function withPool<Result>(
  url: string,
  work: (pool: Pool) => Promise<Result>,
): Promise<Result> {
  const pool = createPool({ url }, { maxConnections: 2, log });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

function listSpread(url: string): Promise<string[]> {
  return withPool(url, async (pool) => {
    const { rows } = await pool.query<{ line: string }>(
      `select table_name || ' by ' || distribution_column as line from citus_tables
       where table_name::text !~ '_\\d{4}_' order by 1`,
    );
    return rows.map(({ line }) => line);
  });
}

test('refuses a database without Citus with one sentence', { skip: spreadsTables }, async () => {
  const database = await createTestDatabase();
  try {
    const refused = await run(database.url, 'spread');
    assert.deepEqual(refused, {
      code: 78,
      out: '',
      err: 'latchkey: This database has no Citus, so there is no coordinator: install Citus on every server and run create extension citus in this database on each of them.',
    });
  } finally {
    await database.drop();
  }
});

describe('on a cluster', { skip: lacksOwnCitus }, () => {
  let cluster: CitusCluster;
  before(async () => {
    cluster = await startCitusCluster(directory);
  });
  after(() => cluster[Symbol.asyncDispose]());

  async function createMigrated(name: string): Promise<string> {
    const url = await cluster.createDatabase(name);
    await withPool(url, migrate);
    return url;
  }

  /** Runs work while the last worker is stopped. */
  async function withoutWorker<Result>(work: () => Promise<Result>): Promise<Result> {
    const server = cluster.servers.at(-1);
    await server?.stop();
    try {
      return await work();
    } finally {
      await server?.start();
    }
  }

  test('shows the plan, spreads a filled database at once with --yes, and then has nothing to do', async () => {
    const url = await createMigrated('filled');
    const events = await withPool(url, fill);
    const planned = await run(url, 'spread', '--json');
    assert.deepEqual(
      [planned.code, JSON.parse(planned.out)],
      [0, { spread: [], pending: ['events', 'event_ids'], already_spread: [] }],
    );
    assert.deepEqual(await listSpread(url), []);
    const done = await run(url, 'spread', '--yes', '--json');
    assert.deepEqual(
      [done.code, JSON.parse(done.out)],
      [0, { spread: ['events', 'event_ids'], pending: [], already_spread: [] }],
    );
    assert.deepEqual(await listSpread(url), ['event_ids by event_id', 'events by install_id']);
    const again = await run(url, 'spread', '--yes');
    assert.deepEqual([again.code, again.out], [0, 'Nothing to do: events, event_ids are spread.']);
    await withPool(url, async (pool) => {
      const { rows } = await pool.query<{ event_id: string }>('select event_id from events');
      assert.deepEqual(rows.map((row) => row.event_id).toSorted(), events);
      const { rows: audit } = await pool.query('select action, details from audit_log');
      // The servers of the tests have the other settings already.
      const settings = 'citus.max_cached_conns_per_worker';
      const details = { tables: 'events, event_ids', settings };
      assert.deepEqual(audit, [{ action: 'database.spread', details }]);
    });
    const report = await run(url, 'doctor', '--json');
    assert.deepEqual(findSpread(report), [
      { check: 'spread tables', status: 'ok', symptom: 'events, event_ids on 2 servers.' },
    ]);
  });

  test('spreads an empty database with its usage, and the usage of one that is spread', async () => {
    const url = await createMigrated('emptied');
    assert.equal((await run(url, 'spread', '--yes')).code, 0);
    const done = await run(url, 'spread', '--usage', '--yes', '--json');
    assert.deepEqual(JSON.parse(done.out), {
      spread: ['usage_days', 'usage_first_days'],
      pending: [],
      already_spread: ['events', 'event_ids'],
    });
    assert.deepEqual(await listSpread(url), [
      'event_ids by event_id',
      'events by install_id',
      'usage_days by machine_key',
      'usage_first_days by machine_key',
    ]);
    assert.equal((await run(url, 'spread', '--yes')).out.split(':')[0], 'Nothing to do');
  });

  test('summarizes the index of event ids on every shard', async () => {
    const url = await createMigrated('summarized');
    assert.equal((await run(url, 'spread', '--yes')).code, 0);
    await withPool(url, async (pool) => {
      await pool.query(
        'insert into event_ids select gen_random_uuid(), now() from generate_series(1, 500)',
      );
      const clear = await onIndexes(pool, 'brin_desummarize_range(%1$L::regclass, 0)::text');
      assert.equal(clear.length, 8);
      await summarizeEventIds(pool);
      // The number of ranges that were not summarized before.
      const missing = await onIndexes(pool, 'brin_summarize_range(%1$L::regclass, 0)');
      assert.deepEqual(missing, Array(8).fill('0'));
    });
  });

  test('refuses a server without workers', async () => {
    const [coordinator = ''] = cluster.urls;
    await execute(coordinator, 'create database alone');
    const url = withDatabase(coordinator, 'alone');
    await execute(url, 'create extension citus');
    await withPool(url, migrate);
    const refused = await run(url, 'spread', '--yes');
    assert.deepEqual(
      [refused.code, refused.err],
      [
        78,
        "latchkey: This server is no coordinator, because it knows no worker: add each with select citus_add_node('<host>', 5432).",
      ],
    );
  });

  test('refuses the URL of a worker, as every command does', async () => {
    const [, worker = ''] = cluster.urls;
    await createMigrated('joined');
    const url = withDatabase(worker, 'joined');
    const sentence =
      'latchkey: DATABASE_URL leads to a worker of a Citus cluster: set it to the URL of the coordinator.';
    for (const args of [['spread', '--yes'], ['migrate'], ['license', 'list'], ['serve']]) {
      const refused = await run(url, ...args);
      assert.deepEqual([refused.code, refused.err.split('\n').at(-1)], [78, sentence]);
    }
    const report = await run(url, 'doctor', '--json');
    assert.ok(report.out.includes(sentence.replace('latchkey: ', '')), report.out);
    assert.deepEqual(await withPool(url, countTables), 0);
  });

  test('refuses a wrong layout, and the doctor reports it', async () => {
    const url = await createMigrated('wrong');
    await execute(url, `select create_distributed_table('event_ids', 'event_id')`);
    await execute(url, `select create_reference_table('signing_keys')`);
    await execute(url, `select create_distributed_table('usage_first_days', 'machine_key')`);
    await execute(
      url,
      `select create_distributed_table('usage_days', 'machine_key', colocate_with => 'none')`,
    );
    const problems = [
      "The table signing_keys is managed by Citus, but must stay local: undo that with select undistribute_table('signing_keys').",
      "The table usage_first_days is not colocated with usage_days: undo that with select undistribute_table('usage_first_days').",
    ];
    const refused = await run(url, 'spread', '--yes');
    assert.deepEqual(
      [refused.code, refused.err.split('\n')],
      [78, problems.map((each) => `latchkey: ${each}`)],
    );
    const report = await run(url, 'doctor', '--json');
    assert.deepEqual(
      findSpread(report).map(({ code, cause }) => [code, cause]),
      [
        ['spread.layout', problems.join(' ')],
        [
          'spread.settings',
          'Settings of the database differ: citus.max_cached_conns_per_worker is 1.',
        ],
      ],
    );
    const tables = await listSpread(url);
    assert.ok(!tables.some((line) => line.startsWith('events')), tables.join());
  });

  test('refuses while a worker is stopped', async () => {
    const url = await createMigrated('stopped');
    const refused = await withoutWorker(() => run(url, 'spread', '--yes'));
    assert.match(refused.err, /^latchkey: The server \S+ does not answer: start it, or remove it/);
    assert.deepEqual([refused.code, await listSpread(url)], [78, []]);
  });

  test('the doctor reports a stopped worker, and other settings of the database', async () => {
    const url = await createMigrated('doctored');
    await run(url, 'spread', '--yes');
    await execute(url, 'alter database doctored reset citus.max_cached_conns_per_worker');
    const report = await withoutWorker(() => run(url, 'doctor', '--json'));
    const findings = findSpread(report).map(({ code, cause }) => `${code}: ${cause}`);
    assert.match(
      findings[0] ?? '',
      /^spread.server_unavailable: The server \S+ does not answer\.$/,
    );
    assert.deepEqual(findings.slice(1), [
      'spread.settings: Settings of the database differ: citus.max_cached_conns_per_worker is 1.',
    ]);
    assert.equal(report.code, 1);
  });

  test('archives a day of distributed events, and reports the same numbers from its file', async () => {
    const url = await cluster.createDatabase('archive');
    await withPool(url, (pool) => migrate(pool));
    assert.equal((await run(url, 'spread', '--yes')).code, 0);
    await withPool(url, async (pool) => {
      await storePastDay(pool, '2026-03-02', 50);
      await storePastDay(pool, '2026-03-03', 7);
    });
    assert.equal((await run(url, 'report', 'refresh')).code, 0);
    const report = [
      'report',
      'props',
      '--name',
      'opened',
      '--from',
      '2026-03-01',
      '--to',
      '2026-03-03',
    ];
    const expected = await run(url, ...report);
    assert.match(expected.out, /^plan +pro +\d+$/mu);
    const place = await mkdtemp(join(directory, 'archive-'));
    const archived = await run(url, 'events', 'archive', '--before', '2026-03-03', '--to', place);
    assert.equal(archived.code, 0, archived.err);
    assert.match(archived.out, /^Archived 1 day with 50 events/mu);
    assert.deepEqual(await withPool(url, listStoredDays), ['2026-03-03']);
    assert.deepEqual(await run(url, ...report, '--archive', place), expected);
  });
});

/** Returns an expression on the BRIN index of each shard of event_ids. */
async function onIndexes(pool: Pool, expression: string): Promise<string[]> {
  const index = `replace('%1$s', 'event_ids_', 'event_ids_received_')`;
  const command = `select ${expression.replace('%1$L', index)}`;
  const { rows } = await pool.query<{ success: boolean; result: string }>(
    `select success, result from run_command_on_shards('event_ids', $1)`,
    [command],
  );
  for (const { success, result } of rows) assert.ok(success, result);
  return rows.map(({ result }) => result);
}

/** Stores events of two days, and returns their ids in order. */
async function fill(pool: Pool): Promise<string[]> {
  const ids = Array.from({ length: 500 }, () => randomUUID()).toSorted();
  for (const day of ['2026-11-20', '2026-11-21']) await createPartition(pool, day);
  await pool.query(
    `insert into events (event_id, received_at, install_id, session_id, name, occurred_at, app_version)
     select id, '2026-11-20T12:00:00Z'::timestamptz + (number % 2) * interval '1 day', gen_random_uuid(), gen_random_uuid(), 'opened', now(), '1.0'
     from unnest($1::uuid[]) with ordinality as given (id, number)`,
    [ids],
  );
  await pool.query('insert into event_ids select event_id, received_at from events');
  return ids;
}

async function countTables(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*) from pg_tables where schemaname = 'public'`,
  );
  return rows[0]?.count ?? -1;
}

interface ReportedFinding {
  readonly check: string;
  readonly status: string;
  readonly symptom: string;
  readonly code?: string;
  readonly cause?: string;
}

function findSpread({ out }: Run): ReportedFinding[] {
  const { findings }: { findings: ReportedFinding[] } = JSON.parse(out);
  return findings.filter(({ check }) => check === 'spread tables');
}
