import { Type } from 'typebox';

import { Nullable, defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

import type { DayRange } from '../rules/periods.ts';
import { MAX_REPORT_ROWS } from './limits.ts';

/** How often a prop of an event had a value. */
export interface EventPropValue {
  readonly key: string;
  /** Null: all that were not among the hundred most frequent of their day. */
  readonly value: string | null;
  readonly events: number;
}

const listStatement = defineStatement(
  'report_event_props',
  Type.Object({ key: Type.String(), value: Nullable.Text, events: Type.Number() }),
  `select key, value, sum(events)::bigint as events
   from event_prop_days where name = $3 and day between $1 and $2 and ($4::text is null or key = $4)
   group by key, value
   order by sum(sum(events)) over (partition by key) desc, key, 3 desc, 2
   limit ${MAX_REPORT_ROWS}`,
);

/**
 * What are the values of an event's props? The most frequent key first, and of each the most frequent value; from roll-ups.
 * A value that is seldom on some days is counted among the others on those. @param key one of them; null: all
 */
export async function listEventProps(
  db: Queryable,
  { from, to }: DayRange,
  name: string,
  key: string | null,
): Promise<EventPropValue[]> {
  return queryRows(db, listStatement, [from, to, name, key]);
}
