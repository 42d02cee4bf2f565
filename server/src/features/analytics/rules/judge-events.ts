import type { EventIn } from '@latchkey/contract';

import { cutText } from '#server/lib/cut-text.ts';

import type { DropReason } from './drop-reasons.ts';

const MAX_PROPS = 32;
const MAX_KEY_CHARACTERS = 64;
const MAX_VALUE_CHARACTERS = 1_024;

const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** The usual names are judged by the first, which takes a tenth of the time. */
const ASCII_NAME = /^[\x20-\x7e]{1,120}$/;
const PRINTABLE_NAME = /^[^\p{C}\p{Zl}\p{Zp}]{1,120}$/u;

/** Whether events of this name are wanted. */
export type NameFilter = (name: string) => boolean;

/** An event that is good to be stored. */
export interface GoodEvent {
  /** In lower case. */
  readonly eventId: string;
  readonly name: string;
  /** As the client told it. */
  readonly occurredAt: string;
  readonly props: Readonly<Record<string, string>> | null;
}

/** What is to be stored, and how many events are not, by reason. */
export interface Judgement {
  readonly good: readonly GoodEvent[];
  readonly drops: Map<DropReason, number>;
}

/**
 * Holds the events of a batch against what is taken here beyond the interface's schema: what does not fit is dropped, for
 * a client that is told so by an error would send the same again for ever.
 */
export function judgeEvents(events: readonly EventIn[], isWanted: NameFilter): Judgement {
  const good: GoodEvent[] = [];
  const drops = new Map<DropReason, number>();
  const seen = new Set<string>();
  for (const event of events) {
    const eventId = event.event_id.toLowerCase();
    const reason = findFault(event, eventId, isWanted) ?? (seen.has(eventId) ? 'duplicate' : null);
    if (reason === null) {
      seen.add(eventId);
      good.push({
        eventId,
        name: event.name,
        occurredAt: event.occurred_at,
        props: readProps(event.props),
      });
    } else {
      drops.set(reason, (drops.get(reason) ?? 0) + 1);
    }
  }
  return { good, drops };
}

function findFault(event: EventIn, eventId: string, isWanted: NameFilter): DropReason | null {
  // A client that does not make ids would lose all of its events but one.
  if (eventId === NIL_UUID) return 'event_id';
  if (!ASCII_NAME.test(event.name) && !PRINTABLE_NAME.test(event.name)) return 'name';
  if (!isWanted(event.name)) return 'not_allowed';
  return hasGoodProps(event.props) ? null : 'props';
}

function hasGoodProps(props: EventIn['props']): boolean {
  if (props === undefined || props === null) return true;
  const keys = Object.keys(props);
  return keys.length <= MAX_PROPS && keys.every(isGoodKey);
}

/** Nearly all are short by their units of UTF-16 already. */
function isGoodKey(key: string): boolean {
  return key.length <= MAX_KEY_CHARACTERS || cutText(key, MAX_KEY_CHARACTERS) === key;
}

function readProps(props: EventIn['props']): GoodEvent['props'] {
  if (props === undefined || props === null) return null;
  const entries = Object.entries(props);
  if (entries.length === 0) return null;
  if (entries.every(([, value]) => value.length <= MAX_VALUE_CHARACTERS)) return props;
  return Object.fromEntries(
    entries.map(([key, value]) => [key, cutText(value, MAX_VALUE_CHARACTERS)]),
  );
}
