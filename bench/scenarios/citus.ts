import { join } from 'node:path';

import type { Pool } from 'pg';

import { createPool } from '#server/db/pool.ts';
import { listTablesToSpread } from '#server/features/spread/rules/layout.ts';
import { spreadTables } from '#server/features/spread/spread.ts';
import { createLog } from '#server/log.ts';

import {
  lacksOwnCitus,
  startCitusCluster,
  startPlainServer,
} from '../../server/test/citus-cluster.ts';
import { execute, withDatabase } from '../../server/test/test-cluster.ts';
import { validationBodies } from '../lib/bodies.ts';
import { eventBodies } from '../lib/event-bodies.ts';
import { measureRate } from '../lib/http-load.ts';
import { seedDataDirectory, startServiceProcess, type ServiceProcess } from '../lib/processes.ts';
import { median, printProgress, type Measurement } from '../lib/report.ts';
import type { Scale } from '../lib/scale.ts';

const CONNECTIONS = [64, 256] as const;

/** As on a server in production. */
const DURABLE = ['fsync = on', 'max_connections = 300'];

const log = createLog({ level: 'warn' });

interface Rates {
  readonly validate: number;
  readonly events: number;
}

/** Rates of one server and of the spread ones, measured one after the other. */
interface Round {
  readonly connections: number;
  readonly plain: Rates;
  readonly spread: Rates;
}

/**
 * Compares events spread over two workers with a server of the same PostgreSQL, by turns: validations, which stay local, and
 * requests with one event. All servers run on this machine, so that the ratios are the cost of Citus, without its gain.
 */
export async function measureCitus(root: string, scale: Scale): Promise<Measurement[]> {
  if (lacksOwnCitus !== false) throw new Error(lacksOwnCitus);
  await using resources = new AsyncDisposableStack();
  const server = resources.use(await startPlainServer(join(root, 'plain-server'), DURABLE));
  await execute(server.url, 'create database latchkey');
  const plainUrl = withDatabase(server.url, 'latchkey');
  const cluster = resources.use(await startCitusCluster(join(root, 'cluster'), DURABLE));
  const spreadUrl = await cluster.createDatabase('latchkey');
  const plain = await startOn(join(root, 'plain'), plainUrl, scale);
  resources.defer(() => plain.stop());
  const spread = await startOn(join(root, 'spread'), spreadUrl, scale, spreadEvents);
  resources.defer(() => spread.stop());
  const rounds: Round[] = [];
  for (let round = 0; round < scale.rounds; round++) {
    for (const connections of CONNECTIONS) {
      rounds.push({
        connections,
        plain: await load(plain, connections, scale),
        spread: await load(spread, connections, scale),
      });
    }
    printProgress(`citus, round ${round + 1} of ${scale.rounds}`);
  }
  const sizes = [await measureBytes(plainUrl), await measureBytes(spreadUrl)];
  return toMeasurements(rounds, sizes);
}

/** Seeds a database, changes it, and starts a service on it. */
async function startOn(
  directory: string,
  url: string,
  scale: Scale,
  change: (pool: Pool) => Promise<void> = async () => {},
): Promise<ServiceProcess> {
  const settings = { DATABASE_URL: url, LATCHKEY_SECRET: 'the secret of a benchmark on Citus' };
  await seedDataDirectory(directory, scale.fewActivations, settings);
  await withPool(url, change);
  return startServiceProcess(directory, settings);
}

function spreadEvents(pool: Pool): Promise<void> {
  const clock = { now: () => new Date() };
  const change = { toSpread: listTablesToSpread(false), settingsToChange: [] };
  return spreadTables({ pool, clock }, change, 'benchmark');
}

async function load({ target }: ServiceProcess, connections: number, scale: Scale): Promise<Rates> {
  const options = { target, connections, seconds: scale.secondsPerLoad };
  return {
    validate: await measureRate({
      ...options,
      path: '/api/v1/licenses/validate',
      nextBody: validationBodies(scale.fewActivations),
    }),
    events: await measureRate({ ...options, path: '/api/v1/events', nextBody: eventBodies(1) }),
  };
}

/** Returns the bytes of an event and its id, with their indexes. */
function measureBytes(url: string): Promise<number> {
  return withPool(url, async (pool) => {
    const isSpread = await pool.query(`select from pg_extension where extname = 'citus'`);
    const size = isSpread.rowCount === 0 ? 'pg_total_relation_size' : 'citus_total_relation_size';
    const { rows } = await pool.query<{ bytes: number }>(
      `select (sum(${size}(inhrelid::regclass)) + max(${size}('event_ids')))::float8
              / (select count(*) from events) as bytes
       from pg_inherits where inhparent = 'events'::regclass`,
    );
    return rows[0]?.bytes ?? Number.NaN;
  });
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

function toMeasurements(
  rounds: readonly Round[],
  [plainBytes = Number.NaN, spreadBytes = Number.NaN]: readonly number[],
): Measurement[] {
  return [
    ...CONNECTIONS.flatMap((connections) => [
      ...compareRates('validate', 'validate', 0.9, rounds, connections),
      ...compareRates('single event', 'events', 0.4, rounds, connections),
    ]),
    { name: 'stored event, one server', value: plainBytes, unit: 'bytes' },
    { name: 'stored event, spread', value: spreadBytes, unit: 'bytes' },
  ];
}

/** The medians of the rounds with as many connections, and that of their ratio. */
function compareRates(
  name: string,
  kind: keyof Rates,
  goal: number,
  rounds: readonly Round[],
  connections: number,
): Measurement[] {
  const some = rounds.filter((round) => round.connections === connections);
  const middle = (read: (round: Round) => number) => median(some.map(read));
  const title = `${name}, ${connections} connections`;
  return [
    { name: `${title}, one server`, value: middle(({ plain }) => plain[kind]), unit: 'req/s' },
    { name: `${title}, spread`, value: middle(({ spread }) => spread[kind]), unit: 'req/s' },
    {
      name: `${title}, spread / one server`,
      value: middle(({ plain, spread }) => spread[kind] / plain[kind]),
      unit: '',
      goal: { atLeast: goal },
    },
  ];
}
