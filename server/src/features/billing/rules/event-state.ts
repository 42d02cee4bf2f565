import type { PaymentEventState } from '@latchkey/contract';

/** Starts the message of a dismissed event; the reason follows. */
export const DISMISSED_PREFIX = 'dismissed: ';

/** Starts the message of a payment for which the catalogue has no product; the prices follow. */
export const UNMATCHED_PREFIX = 'No product of the catalogue has the price ';

/** Starts the message of a payment that has not all of its licenses for another cause, which follows. */
export const ATTENTION_PREFIX = 'Needs attention: ';

/** Returns the message of an event with a value that this version does not know. @param problem begins in lower case */
export function describeUnknownValue(problem: string): string {
  return `${ATTENTION_PREFIX}${problem}. Update Latchkey, in case the provider changed its format, and replay the event.`;
}

/** Whether a message is that of a payment that needs an operator. */
function needsAttention(message: string | null): boolean {
  const prefixes = [UNMATCHED_PREFIX, ATTENTION_PREFIX];
  return prefixes.some((prefix) => message?.startsWith(prefix) === true);
}

/** The stored outcome of an event. */
interface StoredOutcome {
  readonly status: 'processed' | 'ignored' | 'deferred' | 'failed';
  readonly message: string | null;
}

/** Returns the state of an event for operators, who treat ignored events by their reason. */
export function eventState({ status, message }: StoredOutcome): PaymentEventState {
  if (status !== 'processed' && status !== 'ignored') return status;
  if (needsAttention(message)) return 'unmatched';
  if (status === 'processed') return 'applied';
  return message?.startsWith(DISMISSED_PREFIX) === true ? 'dismissed' : 'ignored';
}
