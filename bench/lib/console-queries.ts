/** Queries of the operator interface: its operations as the interface document describes them, with changing values. */
import { readFileSync } from 'node:fs';

import type { Pool } from 'pg';

/** A parameter of an operation, as the interface document describes it. */
interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly schema: { readonly enum?: readonly string[]; readonly examples?: readonly string[] };
}

/** A reading operation. */
export interface Operation {
  /** As in the interface document, such as `/api/v1/admin/licenses/{id}`. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
}

/** About the session itself, which an API key has not; and files. */
const LEFT_OUT = /\/session|\/export/u;

/** The ids of the operations on one thing that are measured, by the beginning of their path. */
const MEASURED_IDS: readonly (readonly [RegExp, keyof Samples])[] = [
  [/\/licenses\/\{id\}/u, 'licenses'],
  [/\/installs\/\{id\}/u, 'installs'],
  [/\/webhook-endpoints\/\{id\}/u, 'endpoints'],
  [/\/events\/stored\/\{event_id\}/u, 'events'],
];

const idsOf = (path: string): keyof Samples | undefined =>
  MEASURED_IDS.find(([pattern]) => pattern.test(path))?.[1];

const isMeasured = (path: string): boolean =>
  !LEFT_OUT.test(path) && (!path.includes('{') || idsOf(path) !== undefined);

/** An operation of the interface document. */
interface Described {
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
}

const isJson = ({ responses }: Described): boolean =>
  'application/json' in (responses['200']?.content ?? {});

/** Returns the reading operations: every list and search, and those on one thing whose ids the database contains. */
export function listOperations(): Operation[] {
  const file = new URL('../../openapi.json', import.meta.url);
  const { paths }: { paths: Record<string, { get?: Described }> } = JSON.parse(
    readFileSync(file, 'utf8'),
  );
  return Object.entries(paths).flatMap(([path, { get }]) =>
    get === undefined || !path.startsWith('/api/v1/admin/') || !isMeasured(path) || !isJson(get)
      ? []
      : [{ path, parameters: get.parameters ?? [] }],
  );
}

/** Ids that the database contains. */
export interface Samples {
  readonly licenses: readonly string[];
  readonly machines: readonly string[];
  readonly installs: readonly string[];
  readonly events: readonly string[];
  readonly endpoints: readonly string[];
  readonly subjects: readonly string[];
}

/** Reads some ids of each kind, from all over the tables. */
export async function readSamples(pool: Pool): Promise<Samples> {
  const read = async (table: string, column: string): Promise<string[]> => {
    const { rows } = await pool.query<{ text: string }>(
      `select ${column}::text as text from ${table} order by random() limit 500`,
    );
    return rows.map(({ text }) => text);
  };
  return {
    licenses: await read('licenses', 'id'),
    machines: await read('activations', 'machine_id'),
    installs: await read('activations', 'install_id'),
    events: await read('event_ids', 'event_id'),
    endpoints: await read('webhook_endpoints', 'id'),
    subjects: await read('audit_log', 'subject_id'),
  };
}

/** Puts an id of the database into the path of an operation on one thing. */
export function choosePath({ path }: Operation, samples: Samples): string {
  const ids = idsOf(path);
  return ids === undefined ? path : path.replace(/\{\w+\}/u, choose(samples[ids]) ?? '');
}

/** Sets required parameters always, and each other one in a fifth of the queries; the first query sets none. */
export function chooseQuery(
  { parameters }: Operation,
  number: number,
  samples: Samples,
): URLSearchParams {
  const query = new URLSearchParams();
  const texts = chooseTexts(samples);
  for (const { in: place, name, required = false, schema } of parameters) {
    if (name === 'cursor' || name === 'limit' || place === 'path') continue;
    if (!required && (number === 0 || Math.random() > 0.2)) continue;
    const value = choose(schema.enum ?? texts[name] ?? schema.examples ?? []);
    if (value !== undefined) query.set(name, value);
  }
  return query;
}

const choose = <Value>(values: readonly Value[]): Value | undefined =>
  values[Math.floor(Math.random() * values.length)];

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();

/** Texts by parameter, most of which the data of `fillConsoleDatabase` contains. */
function chooseTexts(samples: Samples): Readonly<Record<string, readonly (string | undefined)[]>> {
  const n = 1 + Math.floor(Math.random() * 700_000);
  const digits = Math.floor(Math.random() * 0xffff_ffff).toString(16);
  const address = `user${n}@example${n % 997}.com`;
  const searched = [
    address,
    `user${String(n).slice(0, 3)}`,
    'user',
    `txn_${n}`,
    `evt_${n}`,
    `msg_${n}`,
    `machine-${digits.slice(0, 4)}`,
    choose(samples.machines),
    `…${digits.slice(0, 4).toUpperCase()}`,
    `Name ${n % 9973}`,
    choose(samples.licenses),
    choose(samples.licenses)?.slice(0, 8),
    choose(samples.installs),
    choose(samples.events),
    crypto.randomUUID(),
    'nobody',
  ];
  return {
    q: searched,
    search: searched,
    email: [address],
    id: [choose(samples.machines)],
    install_id: [choose(samples.installs)],
    license_id: [choose(samples.licenses)],
    endpoint_id: samples.endpoints,
    product: ['personal', 'sellers', 'none'],
    tier: ['personal', 'sellers'],
    transaction: [`txn_${n}`],
    expiring_days: ['7', '30', '365'],
    since: [daysAgo(7), daysAgo(90), daysAgo(900)],
    until: [daysAgo(0), daysAgo(30)],
    from: [daysAgo(30).slice(0, 10), daysAgo(89).slice(0, 10)],
    to: [daysAgo(0).slice(0, 10)],
    name: ['event_0', 'event_12'],
    key: ['plan'],
    version: ['2.0', '2.4'],
    actor: ['anna3@example.com'],
    action: ['license', 'license.reveal'],
    subject_id: [choose(samples.subjects)],
    scope: ['admin'],
  };
}
