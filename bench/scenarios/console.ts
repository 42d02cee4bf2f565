import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Pool } from 'pg';

import { systemClock } from '#server/clock.ts';
import { startEmbeddedPostgres } from '#server/db/embedded/start.ts';
import { migrate } from '#server/db/migrate.ts';
import { createPool } from '#server/db/pool.ts';
import { createApiKey } from '#server/features/api-keys/manage.ts';
import { createLog } from '#server/log.ts';

import { fillConsoleDatabase, type ConsoleScale } from '../console-data.ts';
import {
  choosePath,
  chooseQuery,
  listOperations,
  readSamples,
  type Operation,
  type Samples,
} from '../lib/console-queries.ts';
import { describeDurability } from '../lib/durability.ts';
import { startServiceProcess } from '../lib/processes.ts';
import { printProgress } from '../lib/report.ts';

/** The database is created without the service, which would create a secret. */
const MASTER_SECRET = 'a master secret for this benchmark alone';

const SLOWEST_QUERY_MS = 100;
const NAMED_QUERIES = 3;

export interface ConsoleOptions {
  readonly scale: ConsoleScale;
  /** Queries of each operation. */
  readonly queries: number;
  /** Only the operations whose path contains this. */
  readonly only: string;
}

/** The answers of one operation. */
interface ConsoleRow {
  readonly path: string;
  readonly p50: number;
  readonly p99: number;
  readonly slowest: number;
  /** The slowest queries over the limit. */
  readonly slow: readonly Query[];
  /** The number of answers by each other status than 200. */
  readonly refused: ReadonlyMap<number, number>;
}

interface Query {
  readonly path: string;
  readonly ms: number;
}

interface ConsoleResults {
  readonly rows: readonly ConsoleRow[];
  readonly durability: Readonly<Record<string, string>>;
}

/**
 * Measures every list and search of the operator interface, and pages of single things, on a full database: different queries of each operation, one after
 * the other, with other filters, orders, searches and pages. The operations come from the interface document.
 * @param directory filled if it is empty
 */
export async function measureConsole(
  directory: string,
  { only, queries, scale }: ConsoleOptions,
): Promise<ConsoleResults> {
  const { apiKey, samples } = await prepare(directory, scale);
  await readFiles(join(directory, 'postgres', 'base'));
  const service = await startServiceProcess(directory, { LATCHKEY_SECRET: MASTER_SECRET });
  const { host, port } = service.target;
  const get = async (path: string): Promise<Answer> => {
    const begun = performance.now();
    const response = await fetch(`http://${host}:${port}${path}`, {
      headers: { 'x-api-key': apiKey },
    });
    const body: unknown = await response.json();
    return { status: response.status, body, ms: performance.now() - begun };
  };
  try {
    const rows: ConsoleRow[] = [];
    for (const operation of listOperations().filter(({ path }) => path.includes(only))) {
      rows.push(await measure(get, operation, samples, queries));
    }
    return { rows, durability: await describeDurability(directory) };
  } finally {
    await service.stop();
  }
}

/** Fills the database if it is empty, and returns an API key with all rights. */
async function prepare(directory: string, scale: ConsoleScale) {
  const log = createLog({ level: 'warn' });
  const database = await startEmbeddedPostgres({ dataDirectory: directory, log });
  const pool: Pool = createPool(database.connection, { maxConnections: 2, log });
  try {
    await migrate(pool);
    const { rowCount } = await pool.query('select from licenses limit 1');
    if (rowCount === 0) await fillConsoleDatabase(pool, scale);
    const name = `bench ${new Date().toISOString()}`;
    const { apiKey } = await createApiKey(
      { pool, clock: systemClock },
      { name, scopes: ['admin'], term: { until: null } },
      { actor: 'bench', reason: null },
    );
    return { apiKey, samples: await readSamples(pool) };
  } finally {
    await pool.end();
    await database.stop();
  }
}

/** Reads the files of the database, so that they are in the memory of the operating system as after some days of operation. */
async function readFiles(directory: string): Promise<void> {
  for await (const path of glob('**/*', { cwd: directory, withFileTypes: true })) {
    if (path.isFile()) await readFile(join(path.parentPath, path.name));
  }
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly ms: number;
}

async function measure(
  get: (path: string) => Promise<Answer>,
  operation: Operation,
  samples: Samples,
  queries: number,
): Promise<ConsoleRow> {
  const found: Query[] = [];
  const refused = new Map<number, number>();
  let cursor: string | null = null;
  let base = choosePath(operation, samples);
  let query = new URLSearchParams();
  await get(base);
  for (let number = 0; number < queries; number++) {
    if (cursor === null) {
      base = choosePath(operation, samples);
      query = chooseQuery(operation, number, samples);
    } else query.set('cursor', cursor);
    const path = `${base}?${query.toString()}`;
    const { body, ms, status } = await get(path);
    if (status === 200) found.push({ path, ms });
    else refused.set(status, (refused.get(status) ?? 0) + 1);
    // Every third query is followed by its next page.
    cursor = number % 3 === 0 ? readCursor(body) : null;
  }
  return report(summarize(operation.path, found, refused));
}

function summarize(
  path: string,
  queries: readonly Query[],
  refused: ReadonlyMap<number, number>,
): ConsoleRow {
  const sorted = queries.toSorted((a, b) => a.ms - b.ms);
  const at = (part: number): number => sorted[Math.floor(sorted.length * part)]?.ms ?? Number.NaN;
  return {
    path,
    p50: at(0.5),
    p99: at(0.99),
    slowest: sorted.at(-1)?.ms ?? Number.NaN,
    slow: sorted.filter(({ ms }) => ms > SLOWEST_QUERY_MS).slice(-NAMED_QUERIES),
    refused,
  };
}

function report(row: ConsoleRow): ConsoleRow {
  const { path, p99, refused, slow } = row;
  printProgress(`${path}: ${p99.toFixed(1)} ms${describeRefused(refused)}`);
  for (const { ms, path: query } of slow.toReversed()) {
    printProgress(`  ${ms.toFixed(0)} ms ${decodeURIComponent(query)}`);
  }
  return row;
}

const describeRefused = (refused: ReadonlyMap<number, number>): string =>
  Array.from(refused, ([status, count]) => `, ${count} refused with ${status}`).join('');

function readCursor(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || !('next_cursor' in body)) return null;
  return typeof body.next_cursor === 'string' ? body.next_cursor : null;
}

/** Prints the table as Markdown. */
export function printConsole(rows: readonly ConsoleRow[]): void {
  console.log('| operation | p50 ms | p99 ms | slowest ms |\n| --- | ---: | ---: | ---: |');
  for (const { p50, p99, path, refused, slowest } of rows) {
    const name = `\`${path.replace('/api/v1/admin/', '')}\`${describeRefused(refused)}`;
    const times = [p50, p99, slowest].map((ms) => ms.toFixed(1));
    console.log(`| ${name} | ${times.join(' | ')} |`);
  }
  const missed = rows.filter(({ p99 }) => !(p99 <= SLOWEST_QUERY_MS));
  console.log(`\n${rows.length - missed.length} of ${rows.length} within ${SLOWEST_QUERY_MS} ms`);
}
