/** The rows of backups, read as psql reads them, without the code of the service: a test compares what it stored and restored. */
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';

const decompress = promisify(zstdDecompress);

/** A table of a backup; of a partitioned one, all partitions together. */
export interface BackupTable {
  readonly columns: readonly string[];
  /** The values of a row in PostgreSQL's text format of COPY, in the order of the columns. */
  readonly rows: readonly (readonly string[])[];
}

const COPY = /^copy (?<table>\w+) \((?<columns>[^)]*)\) from stdin;$/;

/** events_2026_11_28 is a partition of events. */
const PARTITION = /_\d{4}_\d{2}_\d{2}$/;

/** Reads the tables of a backup by name. */
export async function readBackupRows(path: string): Promise<Map<string, BackupTable>> {
  const lines = String(await decompress(await readFile(path))).split('\n');
  const tables = new Map<string, { columns: string[]; rows: string[][] }>();
  let rows: string[][] | null = null;
  for (const line of lines) {
    const { table = '', columns = '' } = COPY.exec(line)?.groups ?? {};
    if (rows !== null && line === '\\.') rows = null;
    else if (rows !== null) rows.push(line.split('\t'));
    else if (table !== '') {
      const name = table.replace(PARTITION, '');
      const known = tables.get(name) ?? { columns: columns.split(', '), rows: [] };
      tables.set(name, known);
      rows = known.rows;
    }
  }
  return tables;
}

/** Returns the number of rows of each table. */
export function countRows(tables: ReadonlyMap<string, BackupTable>): Record<string, number> {
  return Object.fromEntries([...tables].map(([name, { rows }]) => [name, rows.length]));
}

/** The audit log records commands, such as those that back up and restore; its head changes with each entry. */
const APPENDED = 'audit_log';
const HEAD = 'audit_head';

/**
 * Compares the columns that a backup had before an upgrade with those after it.
 * @returns a line for each difference, at most a few for a table; none if every row is there unchanged
 */
export function findDifferences(
  before: ReadonlyMap<string, BackupTable>,
  after: ReadonlyMap<string, BackupTable>,
): string[] {
  return [...before].flatMap(([name, table]) => {
    const upgraded = after.get(name);
    if (upgraded === undefined) return [`${name} is missing`];
    return name === HEAD ? [] : compareTable(name, table, upgraded);
  });
}

const MAX_LINES = 3;

function compareTable(name: string, before: BackupTable, after: BackupTable): string[] {
  const lost = before.columns.filter((column) => !after.columns.includes(column));
  if (lost.length > 0) return [`${name} lost the columns ${lost.join(', ')}`];
  const positions = before.columns.map((column) => after.columns.indexOf(column));
  const project = (row: readonly string[]): string =>
    positions.map((position) => row[position]).join('\t');
  const left = countEach(after.rows.map(project));
  const missing = before.rows.map((row) => row.join('\t')).filter((row) => !takeOne(left, row));
  const added = name === APPENDED ? [] : [...left.keys()];
  return [
    ...missing.slice(0, MAX_LINES).map((row) => `${name} lost ${row}`),
    ...added.slice(0, MAX_LINES).map((row) => `${name} has the new row ${row}`),
  ];
}

function countEach(rows: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row, (counts.get(row) ?? 0) + 1);
  return counts;
}

/** Whether a row was left, of which one fewer is left then. */
function takeOne(counts: Map<string, number>, row: string): boolean {
  const count = counts.get(row) ?? 0;
  if (count > 1) counts.set(row, count - 1);
  else counts.delete(row);
  return count > 0;
}
