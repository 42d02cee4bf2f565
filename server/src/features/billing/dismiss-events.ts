import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { dismissUnappliedEvents, type EventFilter } from './queries/events.ts';

/** Who is done with which events, and why. */
interface DismissalOrder {
  readonly filter: EventFilter;
  readonly actor: string;
  readonly reason: string;
}

/**
 * Says of events that were not applied that nothing is to come of them: they are ignored from now on, and no longer
 * counted or tried again. They stay as they came, and a replay by id still takes them. An audit row tells who said so.
 * @returns how many there were; none leaves no audit row
 */
export async function dismissEvents(
  { pool, clock }: Pick<Context, 'pool' | 'clock'>,
  { filter, actor, reason }: DismissalOrder,
): Promise<number> {
  return inTransaction(pool, async (client) => {
    const dismissed = await dismissUnappliedEvents(client, filter, describeDismissal(reason));
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

const MARK = 'dismissed: ';

/** What is written down of an event that an operator is done with. */
function describeDismissal(reason: string): string {
  return `${MARK}${reason}`;
}

/** Whether an operator said of an event that nothing is to come of it. */
export function isDismissed({
  status,
  message,
}: {
  readonly status: string;
  readonly message: string | null;
}): boolean {
  return status === 'ignored' && message !== null && message.startsWith(MARK);
}
