import { Type, type Static } from 'typebox';

import { defineList } from '#server/db/list.ts';
import { columnsOf, Nullable, Timestamp } from '#server/db/statement.ts';

const JobRow = Type.Object({
  id: Type.Number(),
  name: Type.String(),
  key: Nullable.Text,
  payload: Type.Record(Type.String(), Type.Unknown()),
  /** `failed`: it exhausted its attempts; `retrying`: it waits after a failure. */
  state: Type.Enum(['failed', 'retrying', 'running', 'waiting']),
  attempts: Type.Integer(),
  maxAttempts: Type.Integer(),
  createdAt: Timestamp,
  runAt: Timestamp,
  failedAt: Nullable.Timestamp,
  lastError: Nullable.Text,
});

/** A job as operators see it. */
export type JobRecord = Readonly<Static<typeof JobRow>>;

/** The jobs without the rows of singleton tasks. The table is short: a job is deleted when it is done. */
export const jobList = defineList({
  name: 'job_list_page',
  row: JobRow,
  columns: columnsOf(JobRow, 'j'),
  from: `(
    select *, case when leased_until > now() then 'running'
                   when attempts >= max_attempts then 'failed'
                   when attempts > 0 then 'retrying'
                   else 'waiting' end as state
    from jobs where key is distinct from name || ':singleton'
  ) as j`,
  id: { sql: 'j.id', type: 'bigint' },
  sorts: {
    next_at: { sql: 'j.run_at', type: 'timestamptz' },
    created_at: { sql: 'j.created_at', type: 'timestamptz' },
    failed_at: { sql: `coalesce(j.failed_at, '-infinity')`, type: 'timestamptz' },
    attempts: { sql: 'j.attempts', type: 'smallint' },
    name: { sql: 'j.name', type: 'text' },
  },
});
