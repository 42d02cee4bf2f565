import { insertAuditEntry } from '../audit/queries.ts';
import type { BillingDependencies } from './dependencies.ts';

/** Events that a provider had sent in vain, and a comparison found. */
interface MissedEvents {
  readonly provider: string;
  /** For the log: `events of Paddle`. */
  readonly title: string;
  readonly repaired: readonly object[];
}

/** Logs and audits the missed events that were applied, if there were any. */
export async function reportMissedEvents(
  { clock, log, pool }: Pick<BillingDependencies, 'clock' | 'log' | 'pool'>,
  actor: string,
  { provider, title, repaired }: MissedEvents,
): Promise<void> {
  if (repaired.length === 0) return;
  log.warn({ event: 'payments.missed_events_applied', repaired }, `applied missed ${title}`);
  await insertAuditEntry(pool, {
    occurredAt: clock.now(),
    actor,
    action: 'webhook.reconcile',
    subjectId: provider,
    reason: null,
    details: { repaired: repaired.length },
  });
}
