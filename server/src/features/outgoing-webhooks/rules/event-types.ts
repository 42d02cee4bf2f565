/** Everything that an endpoint can be told of. */
export const EVENT_TYPES = [
  'license.created',
  'license.renewed',
  'license.expired',
  'license.status_changed',
  'license.key_replaced',
  'activation.added',
  'activation.removed',
  'trial.started',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];
