import { Type, type Static, type TObject } from 'typebox';
import { Compile, type Validator } from 'typebox/schema';
import type { QueryResult } from 'pg';

import { sendQuery, type Queryable, type RawRow } from './send-query.ts';

export type { Queryable };

/*
 * Checks come from `typebox/schema` everywhere: `typebox/compile` and `typebox/value` can also convert and repair values,
 * which nobody wants for a row or a body, and cost 8 MB of memory.
 */

/** A value that a statement's parameter takes. Arrays travel as PostgreSQL arrays. */
export type Parameter = string | number | boolean | Date | Buffer | null | readonly Parameter[];

/**
 * One SQL statement with a name (it is prepared under it, and shows in logs and pg_stat_statements)
 * and the shape of its rows.
 */
export interface Statement<Row extends TObject> {
  readonly name: string;
  readonly text: string;
  readonly rowSchema: Row;
  readonly validator: Validator<Row>;
}

/** What `pg` gives for a timestamptz. */
export const Timestamp = Type.Refine(Type.Unsafe<Date>({}), (value) => value instanceof Date);

/** What `pg` gives for a bytea. */
export const Bytes = Type.Refine(Type.Unsafe<Buffer>({}), (value) => Buffer.isBuffer(value));

/** Columns that may be null. */
export const Nullable = {
  Text: Type.Union([Type.String(), Type.Null()]),
  Moment: Type.Union([Timestamp, Type.Null()]),
};

/** Declares a statement that gives rows, each of which is checked against the schema. */
export function defineStatement<Row extends TObject>(
  name: string,
  rowSchema: Row,
  text: string,
): Statement<Row> {
  let validator: Validator<Row> | undefined;
  return {
    name,
    text,
    rowSchema,
    // Compiled late: a process never runs most of the statements, and those without rows need no validator.
    get validator() {
      validator ??= Compile(rowSchema);
      return validator;
    },
  };
}

/** Declares a statement that gives no rows. */
export function defineCommand(name: string, text: string): Statement<TObject> {
  return defineStatement(name, Type.Object({}), text);
}

/**
 * Runs a statement and gives its rows.
 * @param timeoutMs left out: enough for any statement that does not read whole tables
 * @throws when a row is not of the declared shape, which means that schema and statement have drifted apart.
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

/** Runs a statement that gives at most one row. */
export async function queryRow<Row extends TObject>(
  db: Queryable,
  statement: Statement<Row>,
  parameters: readonly Parameter[] = [],
): Promise<Static<Row> | null> {
  const rows = await queryRows(db, statement, parameters);
  return rows[0] ?? null;
}

/** Runs a statement for its effect and gives the number of rows that it touched. */
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

function parseRow<Row extends TObject>(statement: Statement<Row>, row: unknown): Static<Row> {
  if (statement.validator.Check(row)) return row;
  const [, errors] = statement.validator.Errors(row);
  const fields = errors.map((error) => error.instancePath);
  throw new Error(`${statement.name} gave a row of another shape, at ${fields.join(', ')}`);
}
