import type { PaymentEventState } from '@latchkey/contract';

/** Starts the message of a dismissed event; the reason follows. */
export const DISMISSED_PREFIX = 'dismissed: ';

/** Starts the message of a payment for which the catalogue has no product; the prices follow. */
export const UNMATCHED_PREFIX = 'No product of the catalogue has the price ';

/** The stored outcome of an event. */
interface StoredOutcome {
  readonly status: 'processed' | 'ignored' | 'deferred' | 'failed';
  readonly message: string | null;
}

/** Returns the state of an event for operators, who treat ignored events by their reason. */
export function eventState({ status, message }: StoredOutcome): PaymentEventState {
  if (status === 'processed') return 'applied';
  if (status !== 'ignored') return status;
  if (message?.startsWith(DISMISSED_PREFIX) === true) return 'dismissed';
  return message?.startsWith(UNMATCHED_PREFIX) === true ? 'unmatched' : 'ignored';
}
