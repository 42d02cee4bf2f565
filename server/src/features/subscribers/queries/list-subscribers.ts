import { Type } from 'typebox';

import {
  defineStatement,
  Nullable,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

import type { SubscriberFacts } from '../facts.ts';
import { SUBSCRIBER_SOURCE, SubscriberRow, toSubscriber } from './subscribers.ts';

const listStatement = defineStatement(
  'subscriber_list_before',
  SubscriberRow,
  `${SUBSCRIBER_SOURCE}
   where (first_subscribed_at, id) < ($1, $2) order by first_subscribed_at desc, id desc limit $3`,
);

/** The last in the order of time. */
const FAR = new Date('9999-12-31T00:00:00Z');
const LAST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Subscribers, the newest first, a page at a time.
 * @param before the last one of the page before; null: the first page
 */
export async function listSubscribersBefore(
  db: Queryable,
  before: Pick<SubscriberFacts, 'firstSubscribedAt' | 'id'> | null,
  limit: number,
): Promise<SubscriberFacts[]> {
  const { firstSubscribedAt, id } = before ?? { firstSubscribedAt: FAR, id: LAST_UUID };
  const rows = await queryRows(db, listStatement, [firstSubscribedAt, id, limit]);
  return rows.map(toSubscriber);
}

const countStatement = defineStatement(
  'subscriber_count_unmailed',
  Type.Object({ count: Type.Integer(), problem: Nullable.Text }),
  `select count(*)::int as count, mode() within group (order by confirmation_problem) as problem
   from subscribers left join suppressions using (address_hash)
   where confirmed_at is null and confirmation_mailed_at is null and reason is null and email is not null
     and subscribed_at < $1 and coalesce(confirmation_problem, '') !~ '^(address|smtp_55)'`,
);

/**
 * How many asked for news before this moment and could not be asked to confirm it, but for those whose own addresses the
 * relay does not take; and what the problem mostly is.
 */
export async function countUnmailed(
  db: Queryable,
  before: Date,
): Promise<{ readonly count: number; readonly problem: string | null }> {
  return (await queryRow(db, countStatement, [before])) ?? { count: 0, problem: null };
}
