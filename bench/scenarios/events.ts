import { withDatabase } from '../lib/database.ts';
import { createTimeOrderedId, eventBodies } from '../lib/event-bodies.ts';
import { measureRate } from '../lib/http-load.ts';
import type { NextBody } from '../lib/http-connection.ts';
import type { ServiceProcess } from '../lib/processes.ts';
import { median, type Measurement } from '../lib/report.ts';
import type { Scale } from '../lib/scale.ts';

const EVENTS_PER_BATCH = 100;
const CONNECTIONS_WITH_BATCHES = 32;
const CONNECTIONS = 256;

const PATH = '/api/v1/events';

/** Rates of one round: rows or requests per second. */
interface Round {
  readonly batched: number;
  /** As `batched`, with event ids of version 7. */
  readonly timeOrdered: number;
  readonly copied: number;
  readonly apart: number;
  readonly one: number;
  readonly empty: number;
}

/** Compares batches of events with COPY and single inserts, and single events with the empty route. */
export async function measureEvents(service: ServiceProcess, scale: Scale): Promise<Measurement[]> {
  const { target } = service;
  const seconds = scale.secondsPerLoad;
  const load = (path: string, nextBody: NextBody, connections: number): Promise<number> =>
    measureRate({ target, path, nextBody, connections, seconds });
  const loadBatches = async (path: string, createId?: () => string): Promise<number> => {
    const bodies = eventBodies(EVENTS_PER_BATCH, createId);
    return EVENTS_PER_BATCH * (await load(path, bodies, CONNECTIONS_WITH_BATCHES));
  };
  const rounds: Round[] = [];
  for (let round = 0; round < scale.rounds; round++) {
    rounds.push({
      batched: await loadBatches(PATH),
      timeOrdered: await loadBatches(PATH, createTimeOrderedId),
      copied: await copyEvents(service, scale.copiedRows),
      apart: await loadBatches('/bench/single/events'),
      one: await load(PATH, eventBodies(1), CONNECTIONS),
      empty: await load('/bench/empty/events', eventBodies(1), CONNECTIONS),
    });
  }
  const middle = (read: (round: Round) => number) => median(rounds.map(read));
  return [
    { name: 'events in batches of 100', value: middle((round) => round.batched), unit: 'rows/s' },
    { name: 'COPY of the same rows', value: middle((round) => round.copied), unit: 'rows/s' },
    {
      name: 'events / COPY',
      value: middle((round) => round.batched / round.copied),
      unit: '',
      goal: { atLeast: 0.6 },
    },
    {
      name: 'events with ids of version 7',
      value: middle((round) => round.timeOrdered),
      unit: 'rows/s',
    },
    {
      name: 'events with ids of version 7 / COPY',
      value: middle((round) => round.timeOrdered / round.copied),
      unit: '',
      goal: { atLeast: 0.5 },
    },
    { name: 'events, one insert each', value: middle((round) => round.apart), unit: 'rows/s' },
    {
      name: 'events / one insert each',
      value: middle((round) => round.batched / round.apart),
      unit: '',
      goal: { atLeast: 10 },
    },
    { name: 'single event', value: middle((round) => round.one), unit: 'req/s' },
    {
      name: 'single event / empty route',
      value: middle((round) => round.one / round.empty),
      unit: '',
      goal: { atLeast: 0.6 },
    },
  ];
}

/** Measures the rows per second of COPY from a file into a plain table with the same columns, with one commit. */
async function copyEvents({ dataDirectory }: ServiceProcess, rows: number): Promise<number> {
  return withDatabase(dataDirectory, async (pool) => {
    const { rows: settings } = await pool.query<{ directory: string }>(
      `select current_setting('data_directory') as directory`,
    );
    const file = `${settings[0]?.directory ?? ''}/copied-events`;
    const { rowCount } = await pool.query(`copy (select * from events limit ${rows}) to '${file}'`);
    await pool.query('drop table if exists copied_events');
    await pool.query('create table copied_events (like events)');
    const startedAt = performance.now();
    await pool.query(`copy copied_events from '${file}'`);
    return (rowCount ?? 0) / ((performance.now() - startedAt) / 1000);
  });
}
