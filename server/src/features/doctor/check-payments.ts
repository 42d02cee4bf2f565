/** Checks of doctor: events of payment providers. */
import type { Pool } from 'pg';

import { type Config, defaults } from '#server/config/config.ts';
import type { Secrets } from '#server/config/secrets.ts';
import { formatTimestamp } from '#server/lib/text.ts';
import { countOldEventBodies, countUnappliedEvents } from '../billing/queries/events.ts';
import { countUnmatchedEvents } from '../billing/queries/operator-events.ts';
import { findFirstReceivedAt, findReconciliation } from '../billing/queries/reconciliations.ts';

import { type Finding, ok, warning, warningIf } from './finding.ts';

const MAX_COUNTED = 100_000;

/** Checks that the events of payment providers are applied, and that none is missing. */
export async function checkPayments(
  pool: Pool,
  { paddleApiKey }: Pick<Secrets, 'paddleApiKey'>,
  now: Date,
  { rawKeepDays }: Pick<Config['billing'], 'rawKeepDays'> = {
    rawKeepDays: defaults.billingRawKeepDays,
  },
): Promise<Finding[]> {
  const findings = [...(await checkEvents(pool)), ...(await checkBodies(pool, rawKeepDays, now))];
  return paddleApiKey === null ? findings : [...findings, await checkReconciliation(pool, now)];
}

async function checkEvents(pool: Pool): Promise<Finding[]> {
  const check = 'payment events';
  const { deferred, failed } = await countUnappliedEvents(pool);
  const unmatched = await countUnmatchedEvents(pool, MAX_COUNTED);
  const findings = [
    ...warningIf(failed > 0, check, {
      code: 'payment_events.failed',
      symptom: `Failed payment events: ${failed}. They changed no license.`,
      cause: 'They could not be read, or not be applied for four days.',
      fix: 'latchkey webhook list --status failed shows why. Then run latchkey webhook replay --status failed --reason <text>, or latchkey webhook dismiss <event> --reason <text>.',
      facts: { events: failed },
    }),
    ...warningIf(deferred > 0, check, {
      code: 'payment_events.deferred',
      symptom: `Deferred payment events: ${deferred}.`,
      cause: 'They could not be applied yet, and are retried for four days.',
      fix: 'latchkey webhook list --status deferred shows why.',
      facts: { events: deferred },
    }),
    ...warningIf(unmatched > 0, check, {
      code: 'payment_events.need_attention',
      symptom: `Payments that do not have all of their licenses: ${unmatched}.`,
      cause:
        'The catalogue has no product for a price, or the payment does not fit what is known of its purchase.',
      fix: 'latchkey webhook list --attention shows the cause of each. Add a missing price and run latchkey webhook replay <event> --reason <text>; dismiss what is done with latchkey webhook dismiss <event> --reason <text>.',
      facts: { events: unmatched },
    }),
  ];
  return findings.length > 0 ? findings : [ok(check, 'Every received event is applied.')];
}

const DAY_MS = 86_400_000;

/** The job runs every hour. */
const LATE_DAYS = 2;

/** Checks that the bodies of old events are removed; returns no finding if they are. */
async function checkBodies(pool: Pool, keepDays: number, now: Date): Promise<Finding[]> {
  const before = new Date(now.getTime() - (keepDays + LATE_DAYS) * DAY_MS);
  const bodies = await countOldEventBodies(pool, before, MAX_COUNTED);
  return warningIf(bodies > 0, 'payment data', {
    code: 'payment_data.not_removed',
    symptom: `Bodies of payment events older than ${keepDays} days are still stored: ${bodies}.`,
    cause: 'The service removes them every hour: it does not run, or its jobs fail.',
    fix: 'Start the service; latchkey jobs list --all shows the job payment_body_removal. LATCHKEY_BILLING_RAW_KEEP_DAYS sets how long they are kept.',
    facts: { bodies, keep_days: keepDays },
  });
}

const RECONCILIATION = 'reconciliation';

/** It is compared every hour; two runs may be missed during a restart. */
const OUTDATED_AFTER_MS = 3 * 60 * 60_000;

async function checkReconciliation(pool: Pool, now: Date): Promise<Finding> {
  const record = await findReconciliation(pool, 'paddle');
  const reconciledAt = record?.reconciledAt ?? null;
  const last =
    reconciledAt === null ? 'was never read' : `was last read at ${formatTimestamp(reconciledAt)}`;
  const missed = {
    symptom: `Missing events of Paddle are not found: its event log ${last}.`,
    facts: { reconciled_at: reconciledAt },
  };
  if (record !== null && record.failedAt !== null) {
    return warning(RECONCILIATION, {
      ...missed,
      code: 'reconciliation.failed',
      cause: `${record.failure}.`,
      fix: 'Correct LATCHKEY_PADDLE_API_KEY (it needs notification.read) or LATCHKEY_PADDLE_API_URL and restart the service; latchkey webhook reconcile tries it now.',
    });
  }
  const dueSince = record === null ? await findFirstReceivedAt(pool, 'paddle') : reconciledAt;
  if (dueSince !== null && now.getTime() - dueSince.getTime() > OUTDATED_AFTER_MS) {
    return warning(RECONCILIATION, {
      ...missed,
      code: 'reconciliation.outdated',
      cause: 'The service reads it every hour: it does not run, or its jobs are stuck.',
      fix: 'Start the service; latchkey jobs list --all shows the job payment_reconciliation, and latchkey webhook reconcile reads the log now.',
    });
  }
  return ok(RECONCILIATION, describeComparison(record !== null, dueSince));
}

/** @param at the last comparison; before it started, the first event */
function describeComparison(started: boolean, at: Date | null): string {
  if (!started && at === null) {
    return 'No Paddle event yet; the comparison starts with the first one.';
  }
  if (!started) return "Paddle's event log has not been compared yet.";
  if (at === null) return "The first comparison with Paddle's event log is running.";
  return `Paddle's event log was compared at ${formatTimestamp(at)}.`;
}
