/**
 * The format of a backup: text, compressed with Zstandard (RFC 8878).
 *
 *     -- latchkey backup {"format":1,…}
 *     copy licenses (id, …) from stdin;
 *     <rows in PostgreSQL's text format of COPY>
 *     \.
 *     -- rows {"rows":12,"sha256":"…"}
 *     …
 *     -- end {"tables":63,"rows":345,"sha256":"…"}
 *
 * The last line has the hash of all lines that are no rows, so it proves those of the rows, too. psql can read the rows.
 */
import { createHash, type Hash } from 'node:crypto';

import { Type, type Static, type TObject } from 'typebox';
import { Compile, type Validator } from 'typebox/schema';

export const FORMAT = 1;
export const HEADER_PREFIX = '-- latchkey backup ';
export const ROWS_PREFIX = '-- rows ';
export const END_PREFIX = '-- end ';
export const END_OF_ROWS = '\\.';

/** Every name of the schema is of this kind, so that none needs quotes. */
const NAME = '^[a-z_][a-z0-9_]{0,62}$';
const Name = Type.String({ pattern: NAME });
const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Count = Type.Integer({ minimum: 0 });

/** A range that PostgreSQL prints, such as FOR VALUES FROM ('2026-11-28 00:00:00+00') TO ('2026-11-29 00:00:00+00'). */
const BOUNDS = "^FOR VALUES FROM \\('[^'\\\\]{1,40}'\\) TO \\('[^'\\\\]{1,40}'\\)$";

const Header = Type.Object({
  format: Type.Integer(),
  /** The version that wrote the backup. */
  latchkey: Type.String(),
  created_at: Type.String(),
  /** The ids of the master secrets of the installation, the current one first. */
  secret_ids: Type.Array(Type.String(), { minItems: 1 }),
  migrations: Type.Array(Type.Object({ name: Type.String(), checksum: Sha256 }), { minItems: 1 }),
  partitions: Type.Array(
    Type.Object({ table: Name, parent: Name, bounds: Type.String({ pattern: BOUNDS }) }),
  ),
  sequences: Type.Array(
    Type.Object({ table: Name, column: Name, last: Type.Union([Count, Type.Null()]) }),
  ),
});

/** What a backup says about itself in its first line. */
export type BackupHeader = Readonly<Static<typeof Header>>;

const Rows = Type.Object({ rows: Count, sha256: Sha256 });

/** The number and the hash of the rows of a table. */
export type RowsTrailer = Readonly<Static<typeof Rows>>;

const End = Type.Object({ tables: Count, rows: Count, sha256: Sha256 });

/** The last line of a backup. */
export type EndTrailer = Readonly<Static<typeof End>>;

const headerValidator = Compile(Header);
const rowsValidator = Compile(Rows);
const endValidator = Compile(End);

export const parseHeader = (line: string): BackupHeader =>
  parseLine(line, HEADER_PREFIX, headerValidator);
export const parseRows = (line: string): RowsTrailer => parseLine(line, ROWS_PREFIX, rowsValidator);
export const parseEnd = (line: string): EndTrailer => parseLine(line, END_PREFIX, endValidator);

function parseLine<Shape extends TObject>(
  line: string,
  prefix: string,
  validator: Validator<Shape>,
): Static<Shape> {
  if (!line.startsWith(prefix)) throw new Error(`a line with "${prefix.trim()}" is missing`);
  const value: unknown = JSON.parse(line.slice(prefix.length));
  if (validator.Check(value)) return value;
  throw new Error(`the line with "${prefix.trim()}" has another content`);
}

/** Formats the statement that restores the rows of a table. */
export function formatCopy(table: string, columns: readonly string[]): string {
  return `copy ${table} (${columns.join(', ')}) from stdin;`;
}

const COPY = /^copy (?<table>[a-z_][a-z0-9_]*) \((?<columns>[a-z_][a-z0-9_, ]*)\) from stdin;$/u;

/** Parses a statement of {@link formatCopy}. */
export function parseCopy(line: string): { table: string; columns: readonly string[] } {
  const { table, columns } = COPY.exec(line)?.groups ?? {};
  if (table !== undefined && columns !== undefined) return { table, columns: columns.split(', ') };
  throw new Error('a statement is no copy');
}

/** The hash of lines, each with its line break. */
export class LineHash {
  readonly #hash: Hash = createHash('sha256');

  add(line: string): void {
    this.#hash.update(`${line}\n`);
  }

  digest(): string {
    return this.#hash.digest('hex');
  }
}
