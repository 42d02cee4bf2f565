import { Type } from 'typebox';

import { defineStatement, queryRow, type Queryable } from '#server/db/statement.ts';

const countDeliveriesStatement = defineStatement(
  'webhook_delivery_count_failed_since',
  Type.Object({ failed: Type.Number() }),
  `select count(*) as failed
   from (
     select from webhook_deliveries delivery
     join webhook_endpoints endpoint on endpoint.id = delivery.endpoint_id
     where delivery.state = 'failed' and delivery.last_attempt_at >= $1
       and endpoint.disabled_reason is distinct from 'operator'
     limit $2
   ) counted`,
);

/** How many deliveries failed for good since a moment, to endpoints that are to be told, counted as far as `most`. */
export async function countDeliveriesFailedSince(
  db: Queryable,
  since: Date,
  most: number,
): Promise<number> {
  return (await queryRow(db, countDeliveriesStatement, [since, most]))?.failed ?? 0;
}

const countEndpointsStatement = defineStatement(
  'webhook_endpoint_count_disabled',
  Type.Object({ disabled: Type.Number() }),
  `select count(*) as disabled from webhook_endpoints where disabled_reason <> 'operator'`,
);

/** How many endpoints were disabled for failing, and not by an operator. */
export async function countFailedEndpoints(db: Queryable): Promise<number> {
  return (await queryRow(db, countEndpointsStatement))?.disabled ?? 0;
}
