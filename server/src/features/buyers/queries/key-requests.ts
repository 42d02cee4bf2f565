import { Type } from 'typebox';

import { Timestamp, defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

/** A license whose key was mailed at the request of its buyer as often as allowed. */
interface OftenMailed {
  readonly licenseId: string;
  /** The first request of those that count. */
  readonly since: Date;
}

const listStatement = defineStatement(
  'buyer_key_list_often_mailed',
  Type.Object({ licenseId: Type.String(), since: Timestamp }),
  `select subject_id as license_id, min(occurred_at) as since from audit_log
   where subject_id = any ($1) and occurred_at > $2 and action = 'license.resend_key' and actor = $3
   group by subject_id having count(*) >= $4`,
);

/** Lists the licenses whose key an actor had mailed n times since a time, by the audit log. */
export async function listOftenMailed(
  db: Queryable,
  licenseIds: readonly string[],
  actor: string,
  since: Date,
  n: number,
): Promise<OftenMailed[]> {
  return queryRows(db, listStatement, [licenseIds, since, actor, n]);
}
