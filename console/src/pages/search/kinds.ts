import type { SearchKind } from '@latchkey/contract';

/** The name of each kind of hit. */
export const KIND_NAMES: Readonly<Record<SearchKind, string>> = {
  license: 'License',
  customer: 'Customer',
  subscriber: 'Subscriber',
  transaction: 'Transaction',
  subscription: 'Subscription',
  payment_event: 'Payment event',
  activation: 'Activation',
  machine: 'Machine',
  install: 'Install',
  event: 'Event',
  webhook_message: 'Outgoing webhook',
};
