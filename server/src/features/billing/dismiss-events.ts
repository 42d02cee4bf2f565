import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { dismissUnappliedEvents, type EventFilter } from './queries/events.ts';

/** Filter, actor and reason of a dismissal. */
interface Dismissal {
  readonly filter: EventFilter;
  readonly actor: string;
  readonly reason: string;
}

/** Starts the message of a dismissed event. */
const DISMISSED_PREFIX = 'dismissed: ';

/**
 * Sets events that were not applied to ignored, so that they are neither counted nor retried, and writes an audit entry.
 * The events remain stored and can be replayed by id.
 * @returns their number; if 0 there is no audit entry
 */
export async function dismissEvents(
  { pool, clock }: { readonly pool: Pool; readonly clock: Clock },
  { filter, actor, reason }: Dismissal,
): Promise<number> {
  return inTransaction(pool, async (client) => {
    const message = `${DISMISSED_PREFIX}${reason}`;
    const dismissed = await dismissUnappliedEvents(client, filter, message);
    if (dismissed === 0) return 0;
    await insertAuditEntry(client, {
      occurredAt: clock.now(),
      actor,
      reason,
      action: 'webhook.dismiss',
      subjectId: filter.eventId ?? 'webhooks',
      details: { dismissed, status: filter.status, provider: filter.provider },
    });
    return dismissed;
  });
}

/** Whether an operator dismissed the event. */
export function isDismissed(event: {
  readonly status: string;
  readonly message: string | null;
}): boolean {
  return event.status === 'ignored' && event.message?.startsWith(DISMISSED_PREFIX) === true;
}
