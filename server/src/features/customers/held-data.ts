import type { Context } from '#server/context.ts';

import { exportInstall } from '../analytics/installs/read-install.ts';
import { toMachineKey } from '../usage/machine-key.ts';
import type { EventName, Person } from './facts.ts';
import { findEvents, findPerson } from './find-person.ts';
import { listEventsWithBodies } from './queries/bodies.ts';
import { listHeldRows, SOURCES, type HeldRow } from './queries/held-rows.ts';

/** Everything that is held about a person, but the events of installs. */
export interface HeldData {
  readonly person: Person;
  readonly events: readonly EventName[];
  /** How many of the events were not applied, and so keep their bodies. */
  readonly unapplied: number;
  /** By table; a table without such rows is left out. */
  readonly tables: ReadonlyMap<string, readonly HeldRow[]>;
}

/**
 * Reads everything that is held about the owner of an address.
 * @param onProgress called with the number of payment events that were searched
 */
export async function readHeldData(
  ctx: Pick<Context, 'pool' | 'vault'>,
  email: string,
  onProgress: (done: number) => void = () => {},
): Promise<HeldData> {
  const person = await findPerson(ctx, email);
  const events = await findEvents(ctx, person, onProgress);
  const keyed = [ctx.vault, ...ctx.vault.previous];
  const machineKeys = person.machineIds.flatMap((id) =>
    keyed.map((each) => toMachineKey(each, id)),
  );
  const tables = new Map<string, readonly HeldRow[]>();
  for (const source of SOURCES) {
    const rows = await listHeldRows(ctx.pool, source, person, machineKeys);
    if (rows.length > 0) tables.set(source.table, rows);
  }
  const withBodies = await listEventsWithBodies(ctx.pool, events);
  const unapplied = withBodies.filter(
    ({ status, body }) => body !== null && (status === 'deferred' || status === 'failed'),
  ).length;
  if (withBodies.length > 0) {
    const rows = withBodies.map(({ row, body }) => ({ ...row, body: readBody(body) }));
    tables.set('billing_events', rows);
  }
  return { person, events, unapplied, tables };
}

/** As JSON where it is some. */
function readBody(body: Buffer | null): unknown {
  if (body === null) return null;
  const text = body.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    // What could not be read when it came is exported as it came.
    return text;
  }
}

/**
 * Everything that is held about a person as the lines of one JSON object: the rows of each table under the names of its
 * columns, and for each install of the person's licenses its events.
 */
export async function* exportCustomer(
  ctx: Pick<Context, 'clock' | 'pool'>,
  email: string,
  { person, tables }: HeldData,
): AsyncGenerator<string> {
  const head = { address: email, id: person.address.id, exported_at: ctx.clock.now() };
  yield JSON.stringify(head).slice(0, -1);
  for (const [table, rows] of tables) {
    yield `,\n${JSON.stringify(table)}:[`;
    for (const [index, row] of rows.entries()) {
      yield `${index === 0 ? '\n' : ',\n'}${JSON.stringify(row)}`;
    }
    yield '\n]';
  }
  yield ',\n"installs":[';
  for (const [index, installId] of person.installIds.entries()) {
    if (index > 0) yield ',';
    yield* exportInstall(ctx, installId);
  }
  yield ']}\n';
}
