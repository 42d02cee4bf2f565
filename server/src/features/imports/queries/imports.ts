import { Type, type Static } from 'typebox';

import {
  columnsOf,
  defineCommand,
  defineStatement,
  execute,
  Nullable,
  queryRow,
  queryRows,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

import type { ImportReport } from '../rules/report.ts';

const ImportRow = Type.Object({
  id: Type.String(),
  source: Type.String(),
  origin: Type.String(),
  actor: Type.String(),
  reason: Nullable.Text,
  startedAt: Timestamp,
  finishedAt: Nullable.Timestamp,
  undoneAt: Nullable.Timestamp,
  report: Type.Unknown(),
});

/** An import as it is stored. */
export type ImportRecord = Readonly<Static<typeof ImportRow>>;

const insertStatement = defineCommand(
  'import_insert',
  `insert into imports (id, source, origin, actor, reason, started_at) values ($1, $2, $3, $4, $5, $6)`,
);

/** Stores the start of an import. */
export async function insertImport(
  db: Queryable,
  record: Pick<ImportRecord, 'id' | 'source' | 'origin' | 'actor' | 'reason' | 'startedAt'>,
): Promise<void> {
  const { id, source, origin, actor, reason, startedAt } = record;
  await execute(db, insertStatement, [id, source, origin, actor, reason, startedAt]);
}

const finishStatement = defineCommand(
  'import_finish',
  'update imports set finished_at = $2, report = $3 where id = $1',
);

/** Stores the end of an import and its report. */
export async function finishImport(
  db: Queryable,
  id: string,
  finishedAt: Date,
  report: ImportReport,
): Promise<void> {
  await execute(db, finishStatement, [id, finishedAt, JSON.stringify(report)]);
}

const recordUndoStatement = defineCommand(
  'import_record_undo',
  'update imports set undone_at = $2 where id = $1',
);

/** Records that an import was undone. */
export async function recordUndo(db: Queryable, id: string, undoneAt: Date): Promise<void> {
  await execute(db, recordUndoStatement, [id, undoneAt]);
}

const findStatement = defineStatement(
  'import_find',
  ImportRow,
  `select ${columnsOf(ImportRow)} from imports where id = $1`,
);

/** Finds an import. */
export async function findImport(db: Queryable, id: string): Promise<ImportRecord | null> {
  return queryRow(db, findStatement, [id]);
}

const ListedRow = Type.Object({
  ...ImportRow.properties,
  /** The licenses that it created and that were not removed. */
  created: Type.Integer(),
});

/** An import, and how many of its licenses exist. */
export type ListedImport = Readonly<Static<typeof ListedRow>>;

const listStatement = defineStatement(
  'import_list',
  ListedRow,
  `select ${columnsOf(ImportRow, 'i')},
          (select count(*) from imported_licenses l where l.import_id = i.id and l.is_created) as created
   from imports i
   where i.id < $1
   order by i.id desc
   limit $2`,
);

/** Lists imports, newest first. @param beforeId the last id of the previous page, or the highest UUID */
export async function listImports(
  db: Queryable,
  beforeId: string,
  limit: number,
): Promise<ListedImport[]> {
  return queryRows(db, listStatement, [beforeId, limit]);
}
