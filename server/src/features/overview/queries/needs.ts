import { Type, type Static } from 'typebox';

import {
  Nullable,
  defineStatement,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

import { statusCondition } from '../../licenses/rules/status-sql.ts';

/** A higher number would not be more useful. */
const MAX_COUNTED = 10_000;

const CountRow = Type.Object({
  kind: Type.String(),
  count: Type.Integer(),
  since: Nullable.Timestamp,
});

/** How many rows of a kind need an operator, and the time of the oldest one. */
export type NeedCount = Readonly<Static<typeof CountRow>>;

const keyEmailsStatement = defineStatement(
  'overview_count_key_emails',
  CountRow,
  `select kind, count(*)::int as count, min(created_at) as since
   from (
     select case when state = 'refused' and reason = 'unconfirmed' then 'unconfirmed'
                 when state = 'refused' then 'refused'
                 when reason is null then 'late'
                 else reason end as kind, created_at
     from key_emails
     where state = 'refused' and claimed_at >= $1
        or state = 'waiting' and (reason is not null or created_at < $2)
     limit ${MAX_COUNTED}
   ) as unsent
   group by kind`,
);

/**
 * Counts e-mails with keys by why they were not sent: refused and unconfirmed ones since a time, waiting ones without a reason
 * from before a time (`late`), and all with another reason.
 */
export async function countKeyEmails(
  db: Queryable,
  refusedSince: Date,
  waitingBefore: Date,
): Promise<NeedCount[]> {
  return queryRows(db, keyEmailsStatement, [refusedSince, waitingBefore]);
}

const paymentsStatement = defineStatement(
  'overview_count_payment_events',
  CountRow,
  `select status as kind, count(*)::int as count, min(received_at) as since
   from (select status, received_at from billing_events where status in ('deferred', 'failed') and provider not like '%:test'
         limit ${MAX_COUNTED}) as unapplied
   group by status`,
);

/** Counts the deferred and the failed payment events, without those of test modes. */
export async function countPaymentEvents(db: Queryable): Promise<NeedCount[]> {
  return queryRows(db, paymentsStatement);
}

const deliveriesStatement = defineStatement(
  'overview_count_deliveries',
  CountRow,
  `select 'failed' as kind, count(*)::int as count, min(last_attempt_at) as since
   from (
     select delivery.last_attempt_at from webhook_deliveries delivery
     join webhook_endpoints endpoint on endpoint.id = delivery.endpoint_id
     where delivery.state = 'failed' and delivery.last_attempt_at >= $1
       and endpoint.disabled_reason is distinct from 'operator'
     limit ${MAX_COUNTED}
   ) as failed
   having count(*) > 0`,
);

/** Counts the deliveries that exhausted their retries since a time. */
export async function countFailedDeliveries(db: Queryable, since: Date): Promise<NeedCount[]> {
  return queryRows(db, deliveriesStatement, [since]);
}

/** A job that has been due for so long does not run. */
const LATE = `interval '10 minutes'`;

const jobsStatement = defineStatement(
  'overview_count_jobs',
  CountRow,
  `select kind, count(*)::int as count, min(since) as since
   from (
     select case when attempts >= max_attempts then 'failed' else 'late' end as kind, coalesce(failed_at, run_at) as since
     from jobs
     where (attempts >= max_attempts or run_at < now() - ${LATE}) and leased_until > now() is not true
     limit ${MAX_COUNTED}
   ) as open
   group by kind`,
);

/** Counts the jobs that exhausted their retries, and those that are due and do not run. */
export async function countJobs(db: Queryable): Promise<NeedCount[]> {
  return queryRows(db, jobsStatement);
}

const pastDueStatement = defineStatement(
  'overview_count_past_due',
  CountRow,
  `select 'past_due' as kind, count(*)::int as count, min(expires_at) as since
   from (
     select expires_at from licenses
     where not is_test and ${statusCondition('past_due', '$1::timestamptz')}
     limit ${MAX_COUNTED}
   ) as unpaid
   having count(*) > 0`,
);

/** Counts the past due subscriptions, without those of test purchases. */
export async function countPastDue(db: Queryable, now: Date): Promise<NeedCount[]> {
  return queryRows(db, pastDueStatement, [now]);
}

const unmailedStatement = defineStatement(
  'overview_count_unmailed',
  CountRow,
  `select 'unmailed' as kind, count(*)::int as count, min(subscribed_at) as since
   from (
     select subscribed_at from subscribers left join suppressions using (address_hash)
     where confirmed_at is null and confirmation_mailed_at is null and reason is null and email is not null
       and subscribed_at < $1 and coalesce(confirmation_problem, '') !~ '^(address|smtp_55|mailbox_limit)'
     limit ${MAX_COUNTED}
   ) as unmailed
   having count(*) > 0`,
);

/** Counts the subscribers from before a time who were not asked for confirmation. */
export async function countUnmailed(db: Queryable, before: Date): Promise<NeedCount[]> {
  return queryRows(db, unmailedStatement, [before]);
}

const refusedStatement = defineStatement(
  'overview_list_refused',
  Type.Object({ day: Type.String(), licenses: Type.Integer() }),
  `select to_char(day, 'YYYY-MM-DD') as day, count(distinct license_id)::int as licenses
   from license_refusals where license_refusals.day >= $1::date group by 1 order by 1`,
);

/** Counts the licenses with refused requests on each day since one; days without any are absent. */
export async function listRefusedByDay(
  db: Queryable,
  since: string,
): Promise<{ readonly day: string; readonly licenses: number }[]> {
  return queryRows(db, refusedStatement, [since]);
}

const signingStatement = defineStatement(
  'overview_is_signing',
  Type.Object({ isSigning: Type.Boolean() }),
  `select exists (select from signing_keys where active_from <= $1 and (retired_at is null or retired_at > $1))
     as is_signing`,
);

/** Whether a signing key is active. */
export async function isSigning(db: Queryable, now: Date): Promise<boolean> {
  return (await queryRow(db, signingStatement, [now]))?.isSigning === true;
}
