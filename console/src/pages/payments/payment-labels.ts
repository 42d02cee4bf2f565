import type { PaymentEventState } from '@latchkey/contract';

import type { Tone } from '#console/ui/badge.tsx';
import { sentenceCase } from '#console/ui/labels.ts';

export const PAYMENT_EVENTS = '/api/v1/admin/payment-events';

/** The label and the tone of each state. */
const STATES: Readonly<Record<PaymentEventState, readonly [label: string, tone: Tone]>> = {
  failed: ['failed', 'bad'],
  deferred: ['retrying', 'warning'],
  unmatched: ['paid without license', 'bad'],
  applied: ['applied', 'good'],
  ignored: ['no effect', 'muted'],
  dismissed: ['dismissed', 'muted'],
};

export function labelOfState(state: PaymentEventState): string {
  return STATES[state][0];
}

export function toneOfState(state: PaymentEventState): Tone {
  return STATES[state][1];
}

export const STATE_OPTIONS = (
  ['failed', 'deferred', 'unmatched', 'applied', 'ignored', 'dismissed'] as const
).map((value) => ({ value, label: sentenceCase(labelOfState(value)) }));

/** The key of an event. */
interface EventKey {
  readonly provider: string;
  readonly event_id: string;
}

/** The path of an event, of its page and in the interface. */
export function suffixOf({ provider, event_id: id }: EventKey): string {
  return `/${encodeURIComponent(provider)}/${encodeURIComponent(id)}`;
}
