/** Feature: find, export and erase the personal data of one person. */
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import type { PageReader } from '#server/db/list.ts';
import type { Vault } from '#server/lib/vault.ts';

import { exportInstall } from '../analytics/installs/read-install.ts';
import { toMachineKey } from '../usage/machine-key.ts';
import type { EventKey, Person, SharedDeviceChoice } from './facts.ts';
import { findEvents, findPerson } from './find-person.ts';
import { listEventsWithBodies } from './queries/bodies.ts';
import { listPersonalDataRows, SOURCES, type PersonalDataRow } from './queries/personal-data.ts';
import { hideAnswers } from './rules/hide-answers.ts';
import { parseJson } from './rules/mentions.ts';
import { listLeftOut } from './rules/select-devices.ts';

/** The personal data of one person, without the events of installs. */
export interface PersonalData {
  readonly person: Person;
  readonly events: readonly EventKey[];
  /** The number of events that were not applied and so keep their bodies. */
  readonly unapplied: number;
  /** By table; tables without rows are left out. */
  readonly tables: ReadonlyMap<string, readonly PersonalDataRow[]>;
}

interface ReadOptions {
  /** Default: no shared device. */
  readonly included?: SharedDeviceChoice;
  /** Called with the number of payment events that were searched. */
  readonly onProgress?: (done: number) => void;
}

/**
 * Reads the personal data of the owner of an address. The days of use of shared machines are left out, unless they are
 * included.
 */
export async function readPersonalData(
  deps: { readonly pool: Pool; readonly vault: Vault },
  email: string,
  { included, onProgress = () => {} }: ReadOptions = {},
): Promise<PersonalData> {
  const person = await findPerson(deps, email, included);
  const events = await findEvents(deps, person, onProgress);
  const keyed = [deps.vault, ...deps.vault.previous];
  const machineKeys = person.machineIds.flatMap((id) =>
    keyed.map((each) => toMachineKey(each, id)),
  );
  const tables = new Map<string, readonly PersonalDataRow[]>();
  for (const source of SOURCES) {
    const rows = await listPersonalDataRows(deps.pool, source, person, machineKeys);
    const isAttempts = source.table === 'webhook_attempts';
    const shown = isAttempts ? hideAnswers(rows, person.address.spellings) : rows;
    if (rows.length > 0) tables.set(source.table, shown);
  }
  const withBodies = await listEventsWithBodies(deps.pool, events);
  const unapplied = withBodies.filter(
    ({ status, body, row }) =>
      body !== null &&
      (status === 'deferred' || status === 'failed') &&
      row['type'] !== 'unreadable',
  ).length;
  if (withBodies.length > 0) {
    const rows = withBodies.map(({ row, body }) => ({ ...row, body: readBody(body) }));
    tables.set('billing_events', rows);
  }
  return { person, events, unapplied, tables };
}

/** Parses a body as JSON, or returns its text. */
function readBody(body: Buffer | null): unknown {
  if (body === null) return null;
  const text = body.toString('utf8');
  const parsed = parseJson(text);
  return parsed === undefined ? text : parsed;
}

/**
 * Yields the personal data of a person as the lines of one JSON object: the rows of each table under their column names, and
 * the events of each install of the person's licenses. It names the installs and machines whose data is left out.
 */
export async function* exportCustomer(
  deps: PageReader & { readonly clock: Clock },
  email: string,
  { person, tables }: PersonalData,
): AsyncGenerator<string> {
  const head = {
    address: email,
    id: person.address.id,
    exported_at: deps.clock.now(),
    left_out: {
      installs: listLeftOut(person.sharedInstalls, person.installIds),
      machines: listLeftOut(person.sharedMachines, person.machineIds),
    },
  };
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
    yield* exportInstall(deps, installId);
  }
  yield ']}\n';
}
