import { v7 as makeUuid } from 'uuid';

import type { Context } from '#server/context.ts';
import type { Queryable } from '#server/db/statement.ts';

import { findCatalogTerms } from '../licenses/terms.ts';
import { insertMessages, type NewMessage } from './queries/messages.ts';
import { describeChange } from './rules/describe-change.ts';
import {
  formatPayload,
  type EventLicense,
  type EventDetails,
  type EventType,
} from './rules/payload.ts';

/** What recording needs of the context. */
type RecordingContext = Pick<Context, 'catalog' | 'wantedEvents'>;

/** Something that happened to a license. */
export interface LicenseEvent {
  readonly type: EventType;
  /** As it is after the event; its tier as it was sold. */
  readonly license: EventLicense;
  readonly details?: EventDetails;
  /** When it happened, if not just now. */
  readonly occurredAt?: Date;
  /** An event that is recorded twice by the same id is one. */
  readonly messageId?: string;
}

/** A license before and after a change; null before it was there. */
interface LicenseChange {
  readonly before: EventLicense | null;
  readonly after: EventLicense;
}

/**
 * Records events for the endpoints that want them, in the transaction of the caller: they are told when that is
 * committed, and never when it is not. One statement for all of them, and none when nobody wants any.
 */
export async function recordEvents(
  ctx: RecordingContext,
  db: Queryable,
  events: readonly LicenseEvent[],
  now: Date,
): Promise<void> {
  const messages: NewMessage[] = [];
  for (const event of events) {
    if (await ctx.wantedEvents.has(db, event.type)) messages.push(toMessage(ctx, event, now));
  }
  if (messages.length > 0) await insertMessages(db, messages, now);
}

/** {@link recordEvents}, of whatever there is to tell of licenses that were made or changed. */
export async function recordLicenseChanges(
  ctx: RecordingContext,
  db: Queryable,
  changes: readonly LicenseChange[],
  now: Date,
): Promise<void> {
  const events = changes.flatMap(({ before, after }) =>
    describeChange(before, after, now).map((event) => ({ ...event, license: after })),
  );
  await recordEvents(ctx, db, events, now);
}

function toMessage(ctx: RecordingContext, event: LicenseEvent, now: Date): NewMessage {
  const { type, license, details = {}, occurredAt = now } = event;
  const tier = findCatalogTerms(ctx.catalog(), license)?.tier ?? license.tier;
  return {
    id: event.messageId ?? createMessageId(),
    type,
    licenseId: license.id,
    payload: formatPayload(type, { ...license, tier }, details, occurredAt),
  };
}

/** A new message's id; receivers tell by it that they have a message already. */
export function createMessageId(): string {
  return `msg_${makeUuid().replaceAll('-', '')}`;
}
