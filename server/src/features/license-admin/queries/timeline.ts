import { Type, type Static } from 'typebox';

import {
  defineStatement,
  Nullable,
  queryRows,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';
import type { ListPosition } from '#server/db/list.ts';

const TimelineRow = Type.Object({
  /** The kind and the id of the item; unique, and decides between items of the same time. */
  key: Type.String(),
  kind: Type.String(),
  code: Type.String(),
  occurredAt: Timestamp,
  /** As PostgreSQL prints it, to the microsecond. */
  position: Type.String(),
  actor: Nullable.Text,
  reason: Nullable.Text,
  details: Type.Record(
    Type.String(),
    Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]),
  ),
});

/** Something that happened to a license. */
export type TimelineRow = Readonly<Static<typeof TimelineRow>>;

/** Reads one page of one kind of items: each branch is sorted and limited by itself, so that a page reads few rows. */
function branch(kind: string, text: string): string {
  return `(
    select '${kind}:' || id as key, '${kind}' as kind, code, occurred_at, actor, reason, details
    from (${text}) as ${kind}_item (id, code, occurred_at, actor, reason, details)
    where ($3::text is null or '${kind}' = $3)
      and ($4::timestamptz is null or (occurred_at, '${kind}:' || id) < ($4, $5))
    order by occurred_at desc, key desc
    limit $2
  )`;
}

/** The checkouts of a license, its subscriptions, and all payments of both. */
const PURCHASES = `
  bought as materialized (
    select transaction_id, provider from billing_licenses where license_id = $1
    union
    select transaction_id, provider from license_updates where license_id = $1 and kind = 'renewal'
  ), subscribed as materialized (
    select p.subscription_id, p.provider from bought join billing_payments p using (transaction_id, provider)
    where p.subscription_id is not null
    union
    select s.subscription_id, s.provider from bought
    join billing_subscriptions s on s.transaction_id = bought.transaction_id and s.provider = bought.provider
  ), paid as materialized (
    select transaction_id, provider from bought
    union
    select p.transaction_id, p.provider from subscribed
    join billing_payments p on p.subscription_id = subscribed.subscription_id and p.provider = subscribed.provider
  ), ledger as materialized (
    select p.event_id, p.provider from paid join billing_payments p using (transaction_id, provider)
    union
    select s.event_id, s.provider from subscribed join billing_subscriptions s using (subscription_id, provider)
    union
    select a.event_id, a.provider from paid join billing_adjustments a using (transaction_id, provider)
  )`;

const listStatement = defineStatement(
  'admin_license_timeline',
  TimelineRow,
  `with ${PURCHASES}
   select key, kind, code, occurred_at, occurred_at::text as position, actor, reason, details from (
   ${[
     branch(
       'license',
       `select id::text, 'created', created_at, null::text, null::text, jsonb_build_object('trial', trial)
        from licenses where id = $1::uuid`,
     ),
     branch(
       'audit',
       `select id::text, action, occurred_at, actor, reason, details from audit_log
        where subject_id = $1::text or subject_id in (select transaction_id from bought)`,
     ),
     branch(
       'payment',
       `select e.provider || ':' || e.event_id, e.type, e.occurred_at, null::text, null::text,
               jsonb_build_object('provider', e.provider, 'event_id', e.event_id, 'status', e.status, 'message', e.message)
        from ledger join billing_events e using (event_id, provider)`,
     ),
     branch(
       'mail',
       `select m.provider || ':' || m.transaction_id, m.state, coalesce(m.sent_at, m.claimed_at, m.created_at),
               null::text, m.reason,
               jsonb_build_object('transaction_id', m.transaction_id, 'provider', m.provider)
        from bought join key_emails m using (transaction_id, provider)`,
     ),
     branch(
       'machine',
       `select id || ':' || code, code, occurred_at, null::text, null::text,
               jsonb_build_object('activation_id', id, 'machine_id', machine_id, 'app_version', app_version, 'os_version', os_version)
        from (
          select id, 'activated' as code, activated_at as occurred_at, machine_id, app_version, os_version
          from activations where license_id = $1::uuid
          union all
          select id, 'deactivated', deactivated_at, machine_id, app_version, os_version
          from activations where license_id = $1::uuid and deactivated_at is not null
        ) as change`,
     ),
     branch(
       'refusal',
       `select day || ':' || reason, reason, last_at, null::text, null::text, jsonb_build_object('refusals', refusals)
        from license_refusals where license_id = $1::uuid`,
     ),
     branch(
       'webhook',
       `select id, type, created_at, null::text, null::text, jsonb_build_object('message_id', id)
        from webhook_messages where license_id = $1::uuid`,
     ),
   ].join('\n union all ')}
   ) as item
   order by occurred_at desc, key desc
   limit $2`,
);

/**
 * Lists what happened to a license, newest first.
 * @param after the last item of the page before; null: the first page
 * @param kind null: all kinds
 */
export async function listTimeline(
  db: Queryable,
  licenseId: string,
  {
    after,
    kind,
    limit,
  }: {
    readonly after: ListPosition | null;
    readonly kind: string | null;
    readonly limit: number;
  },
): Promise<TimelineRow[]> {
  const position = [after?.value ?? null, after?.id ?? null];
  return queryRows(db, listStatement, [licenseId, limit, kind, ...position]);
}
