import { Type, type Static, type TObject } from 'typebox';
import { Compile, type Validator } from 'typebox/schema';
import type { QueryResult } from 'pg';

import { sendQuery, type Queryable, type RawRow } from './send-query.ts';

export type { Queryable };

/*
 * All validators come from `typebox/schema`: `typebox/compile` and `typebox/value` also convert and repair values, which is
 * unwanted for rows and bodies, and take 8 MB of memory.
 */

/** A parameter of a statement. Arrays become PostgreSQL arrays. */
export type Parameter = string | number | boolean | Date | Buffer | null | readonly Parameter[];

/** An SQL statement, the name under which it is prepared and shows in pg_stat_statements, and the shape of its rows. */
export interface Statement<Row extends TObject> {
  readonly name: string;
  readonly text: string;
  /** The fields of a row and their columns. */
  readonly fields: readonly (readonly [field: string, column: string])[];
  readonly validator: Validator<Row>;
}

/** A timestamptz, as `pg` returns it. */
export const Timestamp = Type.Refine(Type.Unsafe<Date>({}), (value) => value instanceof Date);

/** A bytea, as `pg` returns it. */
export const Bytes = Type.Refine(Type.Unsafe<Buffer>({}), (value) => Buffer.isBuffer(value));

/** Nullable columns. */
export const Nullable = {
  Boolean: Type.Union([Type.Boolean(), Type.Null()]),
  Text: Type.Union([Type.String(), Type.Null()]),
  Timestamp: Type.Union([Timestamp, Type.Null()]),
};

/**
 * Declares a statement whose rows are validated against the schema. A field in camel case is read from its column in snake
 * case, `createdAt` from `created_at`, or from one of the same name.
 */
export function defineStatement<Row extends TObject>(
  name: string,
  rowSchema: Row,
  text: string,
): Statement<Row> {
  let validator: Validator<Row> | undefined;
  return {
    name,
    text,
    fields: Object.keys(rowSchema.properties).map((field) => [field, toColumn(field)]),
    // Compiled on first use: a process never runs most statements, and those without rows need no validator.
    get validator() {
      validator ??= Compile(rowSchema);
      return validator;
    },
  };
}

/** Declares a statement without rows. */
export function defineCommand(name: string, text: string): Statement<TObject> {
  return defineStatement(name, Type.Object({}), text);
}

/**
 * Runs a statement and returns its rows.
 * @param timeoutMs default: enough for any statement that does not read whole tables
 * @throws when a row does not have the declared shape: the statement does not match the schema
 */
export async function queryRows<Row extends TObject>(
  db: Queryable,
  statement: Statement<Row>,
  parameters: readonly Parameter[] = [],
  timeoutMs?: number,
): Promise<Static<Row>[]> {
  const result = await run(db, statement, parameters, timeoutMs);
  return result.rows.map((row) => parseRow(statement, row));
}

/** Runs a statement and returns its first row; null if there is none. */
export async function queryRow<Row extends TObject>(
  db: Queryable,
  statement: Statement<Row>,
  parameters: readonly Parameter[] = [],
): Promise<Static<Row> | null> {
  const rows = await queryRows(db, statement, parameters);
  return rows[0] ?? null;
}

/** Runs a statement and returns the number of rows that it changed. */
export async function execute(
  db: Queryable,
  statement: Statement<TObject>,
  parameters: readonly Parameter[] = [],
): Promise<number> {
  const result = await run(db, statement, parameters);
  return result.rowCount ?? 0;
}

function run(
  db: Queryable,
  statement: Statement<TObject>,
  parameters: readonly Parameter[],
  timeoutMs?: number,
): Promise<QueryResult<RawRow>> {
  const query = { name: statement.name, text: statement.text, values: [...parameters] };
  return sendQuery(db, query, timeoutMs);
}

/** Reads a row of the driver. @throws when it does not have the declared shape: the statement does not match the schema */
export function parseRow<Row extends TObject>(statement: Statement<Row>, raw: RawRow): Static<Row> {
  const row: Record<string, unknown> = {};
  for (const [field, column] of statement.fields) {
    row[field] = raw[column in raw ? column : field];
  }
  if (statement.validator.Check(row)) return row;
  const [, errors] = statement.validator.Errors(row);
  const fields = errors.map((error) => error.instancePath);
  throw new Error(`${statement.name} returned a row of another shape, at ${fields.join(', ')}`);
}

function toColumn(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns the columns of a row, for the list of a `select`. @param table the name or alias of their table */
export function columnsOf({ properties }: TObject, table?: string): string {
  const columns = Object.keys(properties).map(toColumn);
  return (table === undefined ? columns : columns.map((each) => `${table}.${each}`)).join(', ');
}

/** Formats objects as JSON for `jsonb_populate_recordset`: their fields become columns, and bytes the text of a bytea. */
export function toJsonRows(rows: readonly object[]): string {
  return JSON.stringify(
    rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([field, value]) => [
          toColumn(field),
          Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value,
        ]),
      ),
    ),
  );
}

/**
 * Transposes rows to columns, as parameters for `unnest`. A hundred rows of seven fields take 5 µs.
 * @param names the fields, in the order of the statement's parameters
 */
export function toColumns<const Name extends string>(
  rows: readonly Readonly<Record<NoInfer<Name>, Parameter>>[],
  names: readonly Name[],
): Parameter[][] {
  return names.map((name) => rows.map((row) => row[name]));
}
