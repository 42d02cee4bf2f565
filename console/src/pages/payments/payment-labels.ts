import type { PaymentEventState } from '@latchkey/contract';
import { paymentEvents } from '@latchkey/contract/admin/payments';

import { pathOf } from '#console/app/call.ts';
import type { Tone } from '#console/ui/badge.tsx';
import { sentenceCase } from '#console/ui/labels.ts';

/** What a change of an event affects. */
export const AFFECTED = [pathOf(paymentEvents.list)];

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

/** The path of an event's page. */
export function pageOf({ provider, event_id: id }: EventKey): string {
  return `/payments/${encodeURIComponent(provider)}/${encodeURIComponent(id)}`;
}
