/** Schemas that several operations on payment events have in common. */
import { Type } from 'typebox';

import { PAYMENT_SOURCES } from './payment-providers.ts';
import { nullableString, oneOf, text } from './schema.ts';

/**
 * The states of a payment event for operators. `ignored`: no license depends on it; `unmatched`: a payment that does
 * not have all of its licenses; `dismissed`: an operator decided that it does not count.
 */
export const PAYMENT_EVENT_STATES = [
  'failed',
  'deferred',
  'unmatched',
  'applied',
  'ignored',
  'dismissed',
] as const;

export type PaymentEventState = (typeof PAYMENT_EVENT_STATES)[number];

/** Longer than any id or type of a provider. */
const MAX_ID_LENGTH = 200;

/** In characters. */
const MAX_TIME_LENGTH = 40;

/** A date or a date-time. */
export const timeText = (description: string, example = '2026-11-01') =>
  Type.Optional(text({ description, maxLength: MAX_TIME_LENGTH, examples: [example] }));

/** Optional parts of what selects events. */
export const eventSelection = {
  /** With `:test` for the events of its test mode. */
  provider: Type.Optional(oneOf(PAYMENT_SOURCES, { examples: ['paddle'] })),
  type: Type.Optional(
    text({
      description: 'The type as the provider names it.',
      maxLength: MAX_ID_LENGTH,
      examples: ['transaction.completed'],
    }),
  ),
  since: timeText('Only events received since this date (00:00 UTC) or date-time.'),
  until: timeText('Only events received before this date (00:00 UTC) or date-time.', '2026-12-01'),
};

/** The parameters of an operation on one payment event. */
export const paymentEventPath = Type.Object({
  provider: text({ maxLength: MAX_ID_LENGTH, examples: ['paddle'] }),
  event_id: text({ maxLength: MAX_ID_LENGTH, examples: ['evt_01hv8x29kz0t586xy6zn1a62ny'] }),
});

/** Which event it is, and why it has its state. */
export const namedEvent = {
  provider: Type.String({ examples: ['paddle'] }),
  event_id: Type.String({ examples: ['evt_01hv8x29kz0t586xy6zn1a62ny'] }),
  type: Type.String({ examples: ['transaction.completed'] }),
  message: nullableString({
    description: 'Why it was ignored, deferred or failed, or the reason of the dismissal.',
    examples: ['The data of transaction.completed lack data.items.'],
  }),
};
