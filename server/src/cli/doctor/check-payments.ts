import type { Pool } from 'pg';

import { type Config, defaults } from '#server/config/config.ts';
import type { Secrets } from '#server/config/secrets.ts';
import { countOldEventBodies } from '#server/features/billing/queries/events.ts';
import { countUnappliedEvents } from '#server/features/billing/queries/events.ts';
import {
  findFirstReceivedAt,
  findReconciliation,
  hasReconciliationFailed,
} from '#server/features/billing/queries/reconciliations.ts';

import { formatMoment } from '../table.ts';
import { type Finding, ok, warning } from './finding.ts';

/** Whether everything that payment providers told was applied; the database has been migrated. */
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
  const findings: Finding[] = [];
  if (failed > 0) {
    findings.push(
      warning(check, {
        symptom: `Payment events were given up: ${failed}. Nothing follows from them.`,
        cause: 'Each could not be read, or not be applied for four days.',
        fix: 'latchkey webhook list --status failed says why; then latchkey webhook replay --status failed --reason <text>, or latchkey webhook dismiss <event> --reason <text> for what is hopeless.',
      }),
    );
  }
  if (deferred > 0) {
    findings.push(
      warning(check, {
        symptom: `Payment events that could not be applied yet: ${deferred}.`,
        cause: 'They are tried again by themselves, for four days.',
        fix: 'latchkey webhook list --status deferred says why.',
      }),
    );
  }
  return findings.length > 0 ? findings : [ok(check, 'All that came are applied.')];
}

const DAY_MS = 86_400_000;

/** The job runs every hour. */
const LATE_DAYS = 2;

const MAX_COUNTED = 100_000;

/** Whether the bodies of old events are removed; says nothing when they are. */
async function checkBodies(pool: Pool, keepDays: number, now: Date): Promise<Finding[]> {
  const before = new Date(now.getTime() - (keepDays + LATE_DAYS) * DAY_MS);
  const bodies = await countOldEventBodies(pool, before, MAX_COUNTED);
  if (bodies === 0) return [];
  return [
    warning('payment data', {
      symptom: `Bodies of payment events older than ${keepDays} days are still stored: ${bodies}.`,
      cause: 'The service removes them every hour: it does not run, or its jobs fail.',
      fix: 'Start the service; latchkey jobs list --all shows the job remove_old_event_bodies. LATCHKEY_BILLING_RAW_KEEP_DAYS says how long they are kept.',
    }),
  ];
}

const RECONCILIATION = 'reconciliation';

async function checkReconciliation(pool: Pool, now: Date): Promise<Finding> {
  const record = await findReconciliation(pool, 'paddle');
  if (record === null) return judgeBeforeFirst(await findFirstReceivedAt(pool, 'paddle'), now);
  const { reconciledAt, failure } = record;
  if (hasReconciliationFailed(record)) {
    return warnOfMissed(reconciledAt, {
      cause: `${failure}.`,
      fix: 'Correct LATCHKEY_PADDLE_API_KEY (it needs notification.read) or LATCHKEY_PADDLE_API_URL and start again; latchkey webhook reconcile tries it now.',
    });
  }
  if (reconciledAt === null) {
    return ok(RECONCILIATION, "Paddle's log is being compared; its end has not been reached yet.");
  }
  if (isOld(reconciledAt, now)) return warnOfMissed(reconciledAt, STANDSTILL);
  const when = formatMoment(reconciledAt);
  return ok(RECONCILIATION, `Paddle's log was compared to its end at ${when}.`);
}

function judgeBeforeFirst(firstReceiptAt: Date | null, now: Date): Finding {
  if (firstReceiptAt === null) {
    const none = 'No event of Paddle has come yet; its log is compared from the first one on.';
    return ok(RECONCILIATION, none);
  }
  if (isOld(firstReceiptAt, now)) return warnOfMissed(null, STANDSTILL);
  return ok(RECONCILIATION, "Paddle's log has not been compared yet.");
}

/** It is compared every hour; two in a row may fall into a restart. */
const OLD_AFTER_MS = 3 * 60 * 60_000;

function isOld(moment: Date, now: Date): boolean {
  return now.getTime() - moment.getTime() > OLD_AFTER_MS;
}

const STANDSTILL = {
  cause: 'The service reads it every hour: it does not run, or its jobs stand still.',
  fix: 'Start the service; latchkey jobs list --all shows the job reconcile_payments, and latchkey webhook reconcile reads the log now.',
};

function warnOfMissed(
  reconciledAt: Date | null,
  why: { readonly cause: string; readonly fix: string },
): Finding {
  const last =
    reconciledAt === null ? 'was never read' : `was last read at ${formatMoment(reconciledAt)}`;
  const symptom = `Events of Paddle that never arrive are missed: its log ${last}.`;
  return warning(RECONCILIATION, { symptom, ...why });
}
