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
import { eventBodies, heartbeatBodies } from '../lib/event-bodies.ts';
import { measureRate } from '../lib/http-load.ts';
import { seedDataDirectory, startServiceProcess, type ServiceProcess } from '../lib/processes.ts';
import { median, printProgress, type Measurement } from '../lib/report.ts';
import type { Scale } from '../lib/scale.ts';

const CONNECTIONS = [64, 256] as const;

/** As on a server in production. */
const DURABLE = ['fsync = on', 'max_connections = 300'];

const log = createLog({ level: 'warn' });

/** Machines whose days of use are stored. */
const MACHINES = 100_000;

/** Requests a second, by their kind. */
type Rates<Kind extends string> = Readonly<Record<Kind, number>>;

/** Rates of one server and of the spread ones, measured one after the other. */
interface Round<Kind extends string> {
  readonly connections: number;
  readonly plain: Rates<Kind>;
  readonly spread: Rates<Kind>;
}

/** A database with a directory for the service. */
interface Place {
  readonly directory: string;
  readonly url: string;
}

/**
 * Compares tables spread over two workers with a server of the same PostgreSQL, by turns: validations, which stay local, and
 * requests with one event; then heartbeats, after usage was spread, too. All servers run on this machine, so that the ratios are the
 * cost of Citus, without its gain.
 */
export async function measureCitus(root: string, scale: Scale): Promise<Measurement[]> {
  if (lacksOwnCitus !== false) throw new Error(lacksOwnCitus);
  await using resources = new AsyncDisposableStack();
  const server = resources.use(await startPlainServer(join(root, 'plain-server'), DURABLE));
  await execute(server.url, 'create database latchkey');
  const cluster = resources.use(await startCitusCluster(join(root, 'cluster'), DURABLE));
  const plain = { directory: join(root, 'plain'), url: withDatabase(server.url, 'latchkey') };
  const spread = {
    directory: join(root, 'spread'),
    url: await cluster.createDatabase('latchkey'),
  };
  for (const place of [plain, spread]) {
    await seedDataDirectory(place.directory, scale.fewActivations, settingsOf(place));
  }
  const license = await withPool(plain.url, measureLicense);

  await withPool(spread.url, (pool) => spreadMore(pool, false));
  const services = { plain, spread };
  const rounds = await compare(services, scale, (service, connections) =>
    loadEvents(service, connections, scale),
  );
  await withPool(spread.url, (pool) => spreadMore(pool, true));
  const beats = await compare(services, scale, (service, connections) =>
    loadHeartbeats(service, connections, scale),
  );
  return [
    ...CONNECTIONS.flatMap((connections) => [
      ...compareRates('validate', 'validate', rounds, connections, 0.9),
      ...compareRates('single event', 'events', rounds, connections, 0.4),
      ...compareRates('heartbeat, usage spread', 'heartbeat', beats, connections),
    ]),
    { name: 'license with an activation', value: license, unit: 'bytes' },
    ...(await compareSizes('stored event', measureEvent, services)),
    ...(await compareSizes('day of use', measureUsageDay, services)),
  ];
}

const settingsOf = ({ url }: Place): Readonly<Record<string, string>> => ({
  DATABASE_URL: url,
  LATCHKEY_SECRET: 'the secret of a benchmark on Citus',
});

/** Spreads events, or usage after them. */
function spreadMore(pool: Pool, isUsage: boolean): Promise<void> {
  const clock = { now: () => new Date() };
  const before = isUsage ? listTablesToSpread(false) : [];
  const toSpread = listTablesToSpread(isUsage).filter((table) => !before.includes(table));
  return spreadTables({ pool, clock }, { toSpread, settingsToChange: [] }, 'benchmark');
}

/** Starts a service on each database, and measures both by turns. */
async function compare<Kind extends string>(
  places: { readonly plain: Place; readonly spread: Place },
  scale: Scale,
  load: (service: ServiceProcess, connections: number) => Promise<Rates<Kind>>,
): Promise<Round<Kind>[]> {
  await using resources = new AsyncDisposableStack();
  const start = async (place: Place): Promise<ServiceProcess> => {
    const service = await startServiceProcess(place.directory, settingsOf(place));
    resources.defer(() => service.stop());
    return service;
  };
  const plain = await start(places.plain);
  const spread = await start(places.spread);
  const rounds: Round<Kind>[] = [];
  for (let round = 0; round < scale.rounds; round++) {
    for (const connections of CONNECTIONS) {
      rounds.push({
        connections,
        plain: await load(plain, connections),
        spread: await load(spread, connections),
      });
    }
    printProgress(`citus, round ${round + 1} of ${scale.rounds}`);
  }
  return rounds;
}

async function loadEvents({ target }: ServiceProcess, connections: number, scale: Scale) {
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

async function loadHeartbeats({ target }: ServiceProcess, connections: number, scale: Scale) {
  const path = '/api/v1/usage/heartbeat';
  const nextBody = heartbeatBodies(MACHINES);
  const seconds = scale.secondsPerLoad;
  return { heartbeat: await measureRate({ target, connections, seconds, path, nextBody }) };
}

/** Returns the function of PostgreSQL, or that of Citus, for the size of a table with its indexes. */
async function findSizeFunction(pool: Pool): Promise<string> {
  const { rowCount } = await pool.query(`select from pg_extension where extname = 'citus'`);
  return rowCount === 0 ? 'pg_total_relation_size' : 'citus_total_relation_size';
}

/** Returns the bytes of an event and its id, with their indexes. */
async function measureEvent(pool: Pool): Promise<number> {
  const size = await findSizeFunction(pool);
  return readBytes(
    pool,
    `select (sum(${size}(inhrelid::regclass)) + max(${size}('event_ids')))::float8
            / (select count(*) from events) as bytes
     from pg_inherits where inhparent = 'events'::regclass`,
  );
}

/** Returns the bytes of a day on which a machine was used, with its indexes. */
async function measureUsageDay(pool: Pool): Promise<number> {
  const size = await findSizeFunction(pool);
  const text = `select ${size}('usage_days')::float8 / (select count(*) from usage_days) as bytes`;
  return readBytes(pool, text);
}

/** Returns the bytes of a license with its key and one activation, with their indexes. */
function measureLicense(pool: Pool): Promise<number> {
  return readBytes(
    pool,
    `select sum(pg_total_relation_size(name::regclass))::float8 / (select count(*) from licenses) as bytes
     from unnest(array['licenses', 'license_keys', 'activations']) as name`,
  );
}

async function readBytes(pool: Pool, text: string): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(text);
  return rows[0]?.bytes ?? Number.NaN;
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

async function compareSizes(
  name: string,
  measure: (pool: Pool) => Promise<number>,
  { plain, spread }: { readonly plain: Place; readonly spread: Place },
): Promise<Measurement[]> {
  const unit = 'bytes';
  return [
    { name: `${name}, one server`, value: await withPool(plain.url, measure), unit },
    { name: `${name}, spread`, value: await withPool(spread.url, measure), unit },
  ];
}

/** The medians of the rounds with as many connections, and that of their ratio. */
function compareRates<Kind extends string>(
  name: string,
  kind: Kind,
  rounds: readonly Round<Kind>[],
  connections: number,
  goal: number | null = null,
): Measurement[] {
  const some = rounds.filter((round) => round.connections === connections);
  const middle = (read: (round: Round<Kind>) => number) => median(some.map(read));
  const title = `${name}, ${connections} connections`;
  return [
    { name: `${title}, one server`, value: middle(({ plain }) => plain[kind]), unit: 'req/s' },
    { name: `${title}, spread`, value: middle(({ spread }) => spread[kind]), unit: 'req/s' },
    {
      name: `${title}, spread / one server`,
      value: middle(({ plain, spread }) => spread[kind] / plain[kind]),
      unit: '',
      ...(goal === null ? {} : { goal: { atLeast: goal } }),
    },
  ];
}
