import type { Pool } from 'pg';

import { systemClock } from '#server/clock.ts';
import { parseCatalog } from '#server/config/catalog.ts';
import { startEmbeddedPostgres } from '#server/db/embedded/start.ts';
import { migrate } from '#server/db/migrate.ts';
import { createPool } from '#server/db/pool.ts';
import { createApiKey } from '#server/features/api-keys/manage.ts';
import {
  backfillRevenue,
  restartRevenue,
  rollUpDueRevenue,
} from '#server/features/billing/roll-up-revenue.ts';
import { createLog } from '#server/log.ts';

import { startServiceProcess } from '../lib/processes.ts';
import { readProcessorSeconds, readProcessorSecondsOfTree } from '../lib/processor-time.ts';
import { printProgress, type Measurement } from '../lib/report.ts';
import { fillShop, SHOP_CATALOG } from '../revenue-data.ts';

/** How many payments, and how many reports of each kind. */
export interface RevenueScale {
  readonly payments: number;
  readonly rounds: number;
}

const SLOWEST_REPORT_MS = 100;

/** Subscriptions with a new event, which are counted again. */
const CHANGED = 10_000;

/** The database is created without the service, which would create a secret. */
const MASTER_SECRET = 'a master secret for this benchmark alone';

/**
 * Stores payments in bulk, measures how long it takes to count them into the roll-ups, and each report over HTTP.
 * @param directory filled if it is empty
 */
export async function measureRevenue(
  directory: string,
  scale: RevenueScale,
): Promise<Measurement[]> {
  const { apiKey, measurements } = await prepare(directory, scale.payments);
  const service = await startServiceProcess(directory, { LATCHKEY_SECRET: MASTER_SECRET });
  const { host, port } = service.target;
  const get = async (path: string): Promise<string> => {
    const url = `http://${host}:${port}/api/v1/admin/revenue${path}`;
    const response = await fetch(url, { headers: { 'x-api-key': apiKey } });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
    return text;
  };
  try {
    const readProcessor = (): number => readProcessorSecondsOfTree(service.pid);
    return [...measurements, ...(await timeReports({ get, readProcessor }, scale.rounds))];
  } finally {
    await service.stop();
  }
}

async function prepare(directory: string, payments: number) {
  const log = createLog({ level: 'warn' });
  const database = await startEmbeddedPostgres({ dataDirectory: directory, log });
  // Of one connection, whose processor time is measured.
  const pool = createPool(database.connection, { maxConnections: 1, log });
  try {
    await migrate(pool);
    const { rowCount } = await pool.query('select from billing_payments limit 1');
    if (rowCount === 0) await fillShop(pool, payments);
    const measurements = [
      ...(await count(pool)),
      ...(await countChanged(pool)),
      ...(await countRows(pool)),
    ];
    const { apiKey } = await createApiKey(
      { pool, clock: systemClock },
      { name: `bench ${new Date().toISOString()}`, scopes: ['admin'], term: { until: null } },
      { actor: 'bench', reason: null },
    );
    return { apiKey, measurements };
  } finally {
    await pool.end();
    await database.stop();
  }
}

const catalog = parseCatalog(SHOP_CATALOG, 'bench');

function depsOf(pool: Pool) {
  return { pool, clock: systemClock, catalog: () => catalog, log: createLog({ level: 'warn' }) };
}

/** Counts all payments as the service does after an upgrade. */
async function count(pool: Pool): Promise<Measurement[]> {
  const deps = depsOf(pool);
  await restartRevenue(deps, { actor: 'bench', reason: 'bench' });
  let counted = 0;
  const onProgress = (now: number): void => {
    if (Math.floor(now / 100_000) > Math.floor(counted / 100_000))
      printProgress(`counted ${now} payments`);
    counted = now;
  };
  const times = await readTimes(
    pool,
    async () => void (await backfillRevenue(deps, { onProgress })),
  );
  return toMeasurements(`counting ${counted} payments`, times);
}

/** Counts subscriptions again that have a new event. */
async function countChanged(pool: Pool): Promise<Measurement[]> {
  await pool.query(
    `insert into billing_revenue_due (provider, kind, id)
     select provider, 'subscription', subscription_id from (
       select distinct provider, subscription_id from billing_subscriptions order by subscription_id limit $1
     ) as changed`,
    [CHANGED],
  );
  const times = await readTimes(pool, async () => void (await rollUpDueRevenue(depsOf(pool))));
  return toMeasurements(`counting ${CHANGED} subscriptions again`, times);
}

interface Times {
  readonly wall: number;
  readonly node: number;
  readonly postgres: number;
}

async function readTimes(pool: Pool, work: () => Promise<void>): Promise<Times> {
  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  const readPostgres = (): number => readProcessorSeconds(rows[0]?.pid ?? 0);
  const before = { wall: performance.now(), node: process.cpuUsage(), postgres: readPostgres() };
  await work();
  const node = process.cpuUsage(before.node);
  return {
    wall: (performance.now() - before.wall) / 1_000,
    node: (node.user + node.system) / 1_000_000,
    postgres: readPostgres() - before.postgres,
  };
}

function toMeasurements(name: string, { wall, node, postgres }: Times): Measurement[] {
  return [
    { name, value: wall, unit: 's' },
    { name: `${name}, processor time of Node.js`, value: node, unit: 's' },
    { name: `${name}, processor time of PostgreSQL`, value: postgres, unit: 's' },
  ];
}

async function countRows(pool: Pool): Promise<Measurement[]> {
  await pool.query('vacuum analyze billing_revenue_months, billing_revenue_days');
  const { rows } = await pool.query<{ months: string; days: string }>(
    'select (select count(*) from billing_revenue_months) as months, (select count(*) from billing_revenue_days) as days',
  );
  return [
    { name: 'sums by month', value: Number(rows[0]?.months), unit: '' },
    { name: 'sums by day', value: Number(rows[0]?.days), unit: '' },
  ];
}

const DIVISIONS = [
  'month',
  'product',
  'country',
  'provider',
  'month,product',
  'month,country',
  'product,country,provider',
  'month,product,country,provider',
] as const;

const FILTERS = {
  '12 months': '',
  'all months': '&from=2000-01',
  'one month': '&from=2026-03&to=2026-03',
  'in euros': '&currency=EUR&rates=USD:0.92,GBP:1.17,CAD:0.68,AUD:0.61,JPY:0.006,CHF:1.04',
} as const;

interface Service {
  readonly get: (path: string) => Promise<string>;
  /** The processor time of the service and its database until now, in seconds. */
  readonly readProcessor: () => number;
}

async function timeReports(service: Service, rounds: number): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  for (const by of DIVISIONS) {
    for (const [filter, query] of Object.entries(FILTERS)) {
      for (const [format, path] of [
        ['JSON', `?by=${by}${query}`],
        ['CSV', `/export?by=${by}${query}`],
      ] as const) {
        const isHuge = format === 'CSV' && by === 'month,product,country,provider';
        const times = await timeReport(service, path, isHuge ? Math.ceil(rounds / 20) : rounds);
        measurements.push(...toPercentiles(`${by}, ${filter}, ${format}`, times, isHuge));
      }
    }
  }
  return measurements;
}

interface ReportTimes {
  /** In milliseconds, the shortest first. */
  readonly times: readonly number[];
  /** Of a report on average, in milliseconds. */
  readonly processor: number;
  readonly bytes: number;
}

async function timeReport(
  { get, readProcessor }: Service,
  path: string,
  rounds: number,
): Promise<ReportTimes> {
  const times: number[] = [];
  let bytes = 0;
  const before = readProcessor();
  for (let round = 0; round < rounds; round += 1) {
    const begun = performance.now();
    bytes = (await get(path)).length;
    times.push(performance.now() - begun);
  }
  const processor = ((readProcessor() - before) * 1_000) / rounds;
  return { times: times.sort((a, b) => a - b), processor, bytes };
}

/** @param isHuge a file of all rows, which is sent while its pages are read, has no goal */
function toPercentiles(
  name: string,
  { times, processor, bytes }: ReportTimes,
  isHuge: boolean,
): Measurement[] {
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? Number.NaN;
  const goal = isHuge ? {} : { goal: { atMost: SLOWEST_REPORT_MS } };
  const size = `${(bytes / 1_000).toFixed(0)} kB`;
  printProgress(`${name}: ${at(0.99).toFixed(1)} ms, processor ${processor.toFixed(1)} ms`);
  return [
    { name: `${name} (${size}), p50`, value: at(0.5), unit: 'ms' },
    { name: `${name} (${size}), p99`, value: at(0.99), unit: 'ms', ...goal },
    { name: `${name} (${size}), processor time`, value: processor, unit: 'ms' },
  ];
}
