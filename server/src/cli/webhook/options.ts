import { Option } from 'commander';

import { PRICE_PROVIDERS } from '#server/config/catalog.ts';
import type { EventFilter, EventStatus } from '#server/features/billing/queries/events.ts';

import { moment } from '../option-values.ts';

/** What picks events of payment providers. */
export interface EventOptions {
  readonly status?: EventStatus;
  readonly provider?: string;
  readonly since?: Date;
}

/** @param statuses those that can be asked for */
export function eventOptions(statuses: readonly EventStatus[]): Option[] {
  return [
    new Option('--status <status>', 'only those with this status').choices([...statuses]),
    new Option('--provider <name>', 'only those of this payment provider').choices([
      ...PRICE_PROVIDERS,
    ]),
    new Option('--since <date>', 'only those received then or later').argParser(moment),
  ];
}

export function toFilter(options: EventOptions, eventId: string | null = null): EventFilter {
  const { status = null, provider = null, since = null } = options;
  return { eventId, status, provider, since };
}
