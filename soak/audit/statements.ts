/**
 * The statements of the auditor. Those that compare get what was acknowledged in arrays, some thousand elements at a time, and
 * return how many of them the database contradicts.
 */
import { Type } from 'typebox';

import { Bytes, defineCommand, defineStatement } from '#server/db/statement.ts';

const Count = Type.Integer();

/** Counts of something that is counted: missing, with fewer than acknowledged, with more than were possible. */
const Counted = Type.Object({ missing: Count, lost: Count, surplus: Count });

export const compareValidations = defineStatement(
  'soak_compare_validations',
  Counted,
  `select count(*) filter (where a.id is null or a.deactivated_at is not null) as missing,
          count(*) filter (where a.validation_count < known.acknowledged) as lost,
          count(*) filter (where a.validation_count > known.acknowledged + known.unanswered) as surplus
   from unnest($1::uuid[], $2::integer[], $3::integer[]) as known (id, acknowledged, unanswered)
   left join activations a on a.id = known.id`,
);

export const compareHeartbeats = defineStatement(
  'soak_compare_heartbeats',
  Counted,
  `select count(*) filter (where known.acknowledged > 0 and beats = 0) as missing,
          count(*) filter (where beats < known.acknowledged) as lost,
          count(*) filter (where beats > known.acknowledged + known.unanswered) as surplus
   from unnest($1::uuid[], $2::integer[], $3::integer[]) as known (machine_key, acknowledged, unanswered),
        lateral (select coalesce(sum(beats), 0) as beats from usage_days d where d.machine_key = known.machine_key) as used`,
);

const Missing = Type.Object({ missing: Count });

export const compareEvents = defineStatement(
  'soak_compare_events',
  Missing,
  `select count(*) as missing
   from unnest($1::uuid[]) as known (id)
   where not exists (select from event_ids where event_id = known.id)`,
);

export const countEvents = defineStatement(
  'soak_count_events',
  Type.Object({ stored: Count, different: Count, ids: Count, unmatched: Count }),
  `select (select count(*) from events) as stored,
          (select count(distinct event_id) from events) as different,
          (select count(*) from event_ids) as ids,
          (select count(*) from event_ids full join events using (event_id)
           where event_ids.received_at is null or events.received_at is null) as unmatched`,
);

export const compareTrials = defineStatement(
  'soak_compare_trials',
  Missing,
  `select count(*) as missing
   from unnest($1::uuid[]) as known (id)
   where not exists (
     select from activations a join licenses l on l.id = a.license_id and l.trial where a.id = known.id)`,
);

export const countTrials = defineStatement(
  'soak_count_trials',
  Type.Object({ trials: Count, machines: Count }),
  `select (select count(*) from licenses where trial) as trials,
          (select count(distinct a.machine_id) from activations a join licenses l on l.id = a.license_id where l.trial)
            as machines`,
);

export const comparePayments = defineStatement(
  'soak_compare_payments',
  Type.Object({ missing: Count, surplus: Count }),
  `select count(*) filter (where licenses = 0) as missing, count(*) filter (where licenses > 1) as surplus
   from unnest($1::text[]) as known (id),
        lateral (
          select count(*) as licenses
          from billing_licenses b join licenses l on l.id = b.license_id join license_keys k on k.license_id = l.id
          where b.transaction_id = known.id) as sold`,
);

export const countPayments = defineStatement(
  'soak_count_payments',
  Type.Object({ licenses: Count, unapplied: Count }),
  `select (select count(*) from billing_licenses) as licenses,
          (select count(*) from billing_events where status <> 'processed') as unapplied`,
);

export const SoldKey = Type.Object({
  transaction_id: Type.String(),
  license_id: Type.String(),
  key_sealed: Bytes,
  key_hash: Type.String(),
});

export const listSoldKeys = defineStatement(
  'soak_list_sold_keys',
  SoldKey,
  `select b.transaction_id, l.id as license_id, l.key_sealed, encode(k.key_hash, 'hex') as key_hash
   from billing_licenses b join licenses l on l.id = b.license_id join license_keys k on k.license_id = l.id
   where b.transaction_id = any ($1::text[])`,
);

export const compareActivations = defineStatement(
  'soak_compare_activations',
  Type.Object({ missing: Count, lost: Count, surplus: Count }),
  `select count(*) filter (where a.id is null) as missing,
          count(*) filter (where known.is_left and a.deactivated_at is null) as lost,
          count(*) filter (where not known.may_be_left and a.deactivated_at is not null) as surplus
   from unnest($1::uuid[], $2::boolean[], $3::boolean[]) as known (id, is_left, may_be_left)
   left join activations a on a.id = known.id`,
);

export const countActivations = defineStatement(
  'soak_count_activations',
  Type.Object({ activations: Count, overfull: Count }),
  `select (select count(*) from activations where machine_id like 'buyer-machine-%') as activations,
          (select count(*) from (
             select from activations a join licenses l on l.id = a.license_id
             where a.deactivated_at is null group by l.id having count(*) > l.max_activations) as full_licenses)
            as overfull`,
);

export const compareSubscribers = defineStatement(
  'soak_compare_subscribers',
  Type.Object({ missing: Count, surplus: Count }),
  `select count(*) filter (where rows = 0) as missing, count(*) filter (where rows > 1) as surplus
   from unnest($1::text[]) as known (email),
        lateral (select count(*) as rows from subscribers s where lower(s.email) = known.email) as stored`,
);

export const countKeyEmails = defineStatement(
  'soak_count_key_emails',
  Type.Object({ sent: Count, unsent: Count }),
  `select count(*) filter (where state = 'sent') as sent, count(*) filter (where state <> 'sent') as unsent
   from key_emails`,
);

export const countOutreach = defineStatement(
  'soak_count_outreach',
  Type.Object({ messages: Count, sent: Count }),
  `select count(*) as messages, count(*) filter (where state = 'sent') as sent from outreach_messages`,
);

/** Open jobs that send mail or look up buyers. */
export const countOpenJobs = defineStatement(
  'soak_count_open_jobs',
  Type.Object({ open: Count }),
  `select count(*) as open from jobs where name in ('look_up_customer', 'send_key_email', 'send_confirmation')`,
);

/** Makes failed jobs due at once: their delays grow up to hours. */
export const makeJobsDue = defineCommand(
  'soak_make_jobs_due',
  `update jobs set run_at = now()
   where name in ('look_up_customer', 'send_key_email', 'send_confirmation') and lease_id is null and run_at > now()`,
);

/**
 * Ends the leases, of four minutes, of jobs whose process was killed or could not store their outcome.
 * $1: milliseconds since the last fault; those of younger leases run.
 */
export const endLeases = defineCommand(
  'soak_end_leases',
  `update jobs set leased_until = now()
   where name in ('look_up_customer', 'send_key_email', 'send_confirmation')
     and leased_until > now()
     and leased_until < now() + interval '4 minutes' - $1 * interval '1 millisecond'`,
);

/** Makes the second attempt of e-mails due that the relay received without confirming them: it follows after ten minutes. */
export const endDelays = defineCommand(
  'soak_end_delays',
  `update key_emails set unconfirmed_at = unconfirmed_at - interval '1 day'
   where state = 'waiting' and unconfirmed_at > now() - interval '10 minutes'`,
);

/** Ends the claims of e-mails that no job is sending. */
export const endClaims = defineCommand(
  'soak_end_claims',
  `update key_emails k set claimed_at = claimed_at - interval '1 day'
   where state = 'sending' and claimed_at > now() - interval '5 minutes'
     and exists (
       select from jobs j
       where j.key = 'send_key_email:' || k.provider || ':' || k.transaction_id and j.lease_id is null)`,
);
