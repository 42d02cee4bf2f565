import type { Pool } from 'pg';

import { startOf, weekOf, monthOf } from '../rules/days.ts';

/** Rows as texts, in no order, so that two sources of them can be compared. */
export type Rows = readonly string[];

/** Computes the expected rows of each roll-up from the raw rows. */
export async function aggregatePlainly(pool: Pool): Promise<Record<string, Rows>> {
  const events = await readRows(pool, `select *, ${DAY} as day from events`);
  const usage = await readRows(pool, `select *, to_char(day, 'YYYY-MM-DD') as day from usage_days`);
  const first = firstDays(usage);
  return {
    event_name_days: countWith(events, 'install_id', (e) => [e['day'], e['name']]),
    event_days: countWith(events, 'install_id', (e) => [e['day'], e['name'], e['app_version']]),
    event_prop_days: count(
      events.flatMap((event) =>
        Object.entries(event['props'] ?? {}).map(([key, value]) => [
          event['day'],
          event['name'],
          key,
          value,
        ]),
      ),
    ),
    usage_totals: distinct(
      usage.flatMap(({ day, machine_key: machine }) => [
        [['day', day], machine],
        [['week', weekOf(String(day))], machine],
        [['month', monthOf(String(day))], machine],
      ]),
    ),
    usage_version_days: count(usage.map((row) => [row['day'], row['app_version'] ?? ''])),
    usage_system_days: count(usage.map((row) => [row['day'], row['os_version'] ?? ''])),
    usage_retention: distinct(
      usage.map(({ day, machine_key: machine }) => [
        [weekOf(first.get(String(machine)) ?? ''), weekOf(String(day))],
        machine,
      ]),
    ),
  };
}

/** Reads the rows of each roll-up. */
export async function readRollups(pool: Pool): Promise<Record<string, Rows>> {
  const rows: Record<string, Rows> = {};
  for (const [table, columns] of Object.entries(ROLLUP_COLUMNS)) {
    const { rows: found } = await pool.query<{ row: unknown }>(
      `select json_build_array(${columns}) as row from ${table}`,
    );
    rows[table] = found.map(({ row }) => JSON.stringify(row)).toSorted();
  }
  return rows;
}

const DAY = `to_char(received_at at time zone 'UTC', 'YYYY-MM-DD')`;

const ROLLUP_COLUMNS = {
  event_name_days: 'day, name, events, installs',
  event_days: 'day, name, app_version, events, installs',
  event_prop_days: 'day, name, key, value, events',
  usage_totals: 'period, starts, machines',
  usage_version_days: 'day, app_version, machines',
  usage_system_days: 'day, os_version, machines',
  usage_retention: 'cohort, week, machines',
};

type Row = Record<string, unknown>;

async function readRows(pool: Pool, text: string): Promise<Row[]> {
  return (await pool.query<Row>(text)).rows;
}

function firstDays(usage: readonly Row[]): ReadonlyMap<string, string> {
  const first = new Map<string, string>();
  for (const { machine_key: machine, day } of usage) {
    const known = first.get(String(machine));
    if (known === undefined || startOf(String(day)) < startOf(known)) {
      first.set(String(machine), String(day));
    }
  }
  return first;
}

/** Counts each key. */
function count(keys: readonly (readonly unknown[])[]): Rows {
  const counts = new Map<string, number>();
  for (const key of keys) {
    const text = JSON.stringify(key);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].map(([key, found]) => `${key.slice(0, -1)},${found}]`).toSorted();
}

/** Counts the distinct values of each key. */
function distinct(pairs: readonly (readonly unknown[])[]): Rows {
  const seen = new Map<string, Set<unknown>>();
  for (const [key, thing] of pairs) {
    const text = JSON.stringify(key);
    seen.set(text, (seen.get(text) ?? new Set()).add(thing));
  }
  return [...seen].map(([key, things]) => `${key.slice(0, -1)},${things.size}]`).toSorted();
}

/** Counts the rows of each key, and the distinct values in a column. */
function countWith(rows: readonly Row[], column: string, keyOf: (row: Row) => unknown[]): Rows {
  const counted = count(rows.map(keyOf));
  const things = distinct(rows.map((row) => [keyOf(row), row[column]]));
  const numbers = new Map(things.map((text) => [keyIn(text), /,(\d+)\]$/.exec(text)?.[1]]));
  return counted
    .map((text) => `${text.slice(0, -1)},${numbers.get(keyIn(text)) ?? ''}]`)
    .toSorted();
}

function keyIn(text: string): string {
  return text.replace(/,\d+\]$/, '');
}
