import type { EventIn } from '@latchkey/contract';

import { cutText } from '#server/lib/cut-text.ts';

/** Why an event is not stored, in the order in which the reasons are looked for. */
export const DROP_REASONS = [
  'sharing_off',
  'event_id',
  'name',
  'not_allowed',
  'props',
  'duplicate',
] as const;
export type DropReason = (typeof DROP_REASONS)[number];

/** How many events are not stored, for each reason that there is. */
export type DropCounts = ReadonlyMap<DropReason, number>;

/** As the header `X-Events-Dropped` tells it: `duplicate=3,name=1`. */
export function describeDrops(drops: DropCounts): string {
  return DROP_REASONS.flatMap((reason) => {
    const count = drops.get(reason) ?? 0;
    return count === 0 ? [] : [`${reason}=${count}`];
  }).join(',');
}

/**
 * Makes a filter of patterns in which `*` stands for any number of characters, all else for itself. No patterns: all names
 * are wanted. Names come from strangers: a name is looked through once for each pattern, where a regular expression with a
 * few stars would try every way to spread it over them, and take seconds.
 */
export function createNameFilter(patterns: readonly string[]): NameFilter {
  if (patterns.length === 0) return () => true;
  const names = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const filters = patterns.filter((pattern) => pattern.includes('*')).map(createPatternFilter);
  return (name) => names.has(name) || filters.some((fits) => fits(name));
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
