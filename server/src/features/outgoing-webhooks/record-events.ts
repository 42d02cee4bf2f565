/** Feature: send events about licenses to endpoints that operators register (Standard Webhooks). */
import { v7 as makeUuid } from 'uuid';

import type { Catalog } from '#server/config/catalog.ts';
import type { Queryable } from '#server/db/statement.ts';

import { findCatalogTerms } from '../licenses/terms.ts';
import { insertMessages, type NewMessage } from './queries/messages.ts';
import { describeChange } from './rules/describe-change.ts';
import {
  formatPayload,
  type EventDetails,
  type EventLicense,
  type EventType,
} from './rules/payload.ts';
import type { EventSubscriptions } from './event-subscriptions.ts';

export interface EventDependencies {
  readonly catalog: () => Catalog;
  readonly eventSubscriptions: EventSubscriptions;
}

/** An event about a license, to be sent to the endpoints that subscribe to its type. */
export interface LicenseEvent {
  readonly type: EventType;
  /** After the event; its tier as sold. */
  readonly license: EventLicense;
  readonly details?: EventDetails;
  /** Default: now. */
  readonly occurredAt?: Date;
  /** Deduplicates: a second event with the same id is not recorded. Default: a new id. */
  readonly messageId?: string;
}

/** A license before and after a change; null before its creation. */
interface LicenseChange {
  readonly before: EventLicense | null;
  readonly after: EventLicense;
}

/**
 * Records events as messages to the endpoints that subscribe to them, with one statement, or none without subscribers.
 * @param db in the transaction of the change, so that the messages are sent only if it is committed
 */
export async function recordEvents(
  deps: EventDependencies,
  db: Queryable,
  events: readonly LicenseEvent[],
  now: Date,
): Promise<void> {
  const messages: NewMessage[] = [];
  for (const event of events) {
    if (await deps.eventSubscriptions.has(db, event.type))
      messages.push(toMessage(deps, event, now));
  }
  if (messages.length > 0) await insertMessages(db, messages, now);
}

/** Records the events that follow from created and changed licenses, as {@link recordEvents} does. */
export async function recordLicenseChanges(
  deps: EventDependencies,
  db: Queryable,
  changes: readonly LicenseChange[],
  now: Date,
): Promise<void> {
  const events = changes.flatMap(({ before, after }) =>
    describeChange(before, after, now).map((event) => ({ ...event, license: after })),
  );
  await recordEvents(deps, db, events, now);
}

function toMessage({ catalog }: EventDependencies, event: LicenseEvent, now: Date): NewMessage {
  const { type, license, details = {}, occurredAt = now } = event;
  const tier = findCatalogTerms(catalog(), license)?.tier ?? license.tier;
  return {
    id: event.messageId ?? createMessageId(),
    type,
    licenseId: license.id,
    payload: formatPayload(type, { ...license, tier }, details, occurredAt),
  };
}

/** Creates a message id, by which receivers recognize duplicates. */
export function createMessageId(): string {
  return `msg_${makeUuid().replaceAll('-', '')}`;
}
