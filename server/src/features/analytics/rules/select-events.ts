import type { EventIn } from '@latchkey/contract';

import { cutText } from '#server/lib/text.ts';

/** Why an event is dropped, in the order of the checks. */
export const DROP_REASONS = [
  'sharing_off',
  'event_id',
  'name',
  'not_allowed',
  'props',
  'duplicate',
] as const;
export type DropReason = (typeof DROP_REASONS)[number];

export type DropCounts = ReadonlyMap<DropReason, number>;

/** Formats the header field `X-Events-Dropped`: `duplicate=3,name=1`. */
export function formatDrops(drops: DropCounts): string {
  return DROP_REASONS.flatMap((reason) => {
    const count = drops.get(reason) ?? 0;
    return count === 0 ? [] : [`${reason}=${count}`];
  }).join(',');
}

/** Whether events of a name are stored. */
export type NameFilter = (name: string) => boolean;

/**
 * Creates a filter of patterns, in which `*` matches any number of characters; without patterns, all names pass. Names
 * are untrusted: each pattern scans a name once, where a regular expression with several stars could backtrack for
 * seconds.
 */
export function createNameFilter(patterns: readonly string[]): NameFilter {
  if (patterns.length === 0) return () => true;
  const names = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const filters = patterns.filter((pattern) => pattern.includes('*')).map(createPatternFilter);
  return (name) => names.has(name) || filters.some((matches) => matches(name));
}

function createPatternFilter(pattern: string): NameFilter {
  const [first = '', ...pieces] = pattern.split('*');
  const last = pieces.pop() ?? '';
  return (name) => {
    if (!name.startsWith(first)) return false;
    let end = first.length;
    for (const piece of pieces) {
      const found = name.indexOf(piece, end);
      if (found === -1) return false;
      end = found + piece.length;
    }
    return name.length - last.length >= end && name.endsWith(last);
  };
}

const MAX_PROPS = 32;
const MAX_KEY_CHARACTERS = 64;
const MAX_VALUE_CHARACTERS = 1_024;

const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** The first one is ten times as fast for the usual names. */
const ASCII_NAME = /^[\x20-\x7e]{1,120}$/;
const PRINTABLE_NAME = /^[^\p{C}\p{Zl}\p{Zp}]{1,120}$/u;

/** An event that is stored unless its id is already known. */
export interface SelectedEvent {
  /** In lower case. */
  readonly eventId: string;
  readonly name: string;
  /** By the client's clock. */
  readonly occurredAt: string;
  readonly props: Readonly<Record<string, string>> | null;
}

/** The events of a request that are stored, and the number of the others, by reason. */
export interface EventSelection {
  readonly selected: readonly SelectedEvent[];
  readonly drops: Map<DropReason, number>;
}

/**
 * Selects the events that meet the rules beyond the request schema. The others are dropped rather than rejected,
 * because a client would send a rejected batch again forever.
 */
export function selectEvents(events: readonly EventIn[], isWanted: NameFilter): EventSelection {
  const selected: SelectedEvent[] = [];
  const drops = new Map<DropReason, number>();
  // The statement also skips repeated ids, but it cannot tell which came first, and a single one would make it store the
  // events of all requests of the batch again, by the slower way.
  const seen = new Set<string>();
  for (const event of events) {
    const eventId = event.event_id.toLowerCase();
    const reason =
      findDropReason(event, eventId, isWanted) ?? (seen.has(eventId) ? 'duplicate' : null);
    if (reason === null) {
      seen.add(eventId);
      selected.push({
        eventId,
        name: event.name,
        occurredAt: event.occurred_at,
        props: toProps(event.props),
      });
    } else {
      drops.set(reason, (drops.get(reason) ?? 0) + 1);
    }
  }
  return { selected, drops };
}

function findDropReason(event: EventIn, eventId: string, isWanted: NameFilter): DropReason | null {
  // A client that generates no ids would lose all of its events but one as duplicates.
  if (eventId === NIL_UUID) return 'event_id';
  if (!ASCII_NAME.test(event.name) && !PRINTABLE_NAME.test(event.name)) return 'name';
  if (!isWanted(event.name)) return 'not_allowed';
  return hasValidProps(event.props) ? null : 'props';
}

function hasValidProps(props: EventIn['props']): boolean {
  if (props === undefined || props === null) return true;
  const keys = Object.keys(props);
  return keys.length <= MAX_PROPS && keys.every(isValidKey);
}

/** Most keys are short enough in UTF-16 units, which is cheaper to check. */
function isValidKey(key: string): boolean {
  return key.length <= MAX_KEY_CHARACTERS || cutText(key, MAX_KEY_CHARACTERS) === key;
}

function toProps(props: EventIn['props']): SelectedEvent['props'] {
  if (props === undefined || props === null) return null;
  const entries = Object.entries(props);
  if (entries.length === 0) return null;
  if (entries.every(([, value]) => value.length <= MAX_VALUE_CHARACTERS)) return props;
  return Object.fromEntries(
    entries.map(([key, value]) => [key, cutText(value, MAX_VALUE_CHARACTERS)]),
  );
}
