import type { AgentNotice } from '@latchkey/contract';

import type { FleetEvent, MachineState } from './types.ts';

const MAX_EVENTS = 200;

/** An event that is kept; its reason may still become known. */
export interface KeptEvent extends FleetEvent {
  what: FleetEvent['what'];
}

/** The newest events since the page was opened. */
export class EventLog {
  #events: readonly FleetEvent[] = [];

  /** Oldest first; another array after each change. */
  get events(): readonly FleetEvent[] {
    return this.#events;
  }

  add(event: FleetEvent): KeptEvent {
    const kept = { ...event };
    this.#events = [...this.#events.slice(1 - MAX_EVENTS), kept];
    return kept;
  }

  /** Corrects an event, as when the reason of a gap becomes known. It stays the same object, which a view may have seen. */
  correct(event: KeptEvent, what: FleetEvent['what']): void {
    event.what = what;
    this.#events = [...this.#events];
  }
}

/** Returns what happened to a machine that has answered before; null: nothing worth an event. */
export function describeStateChange(
  before: MachineState,
  after: MachineState,
): FleetEvent['what'] | null {
  if (after.kind === 'gap') return after;
  return before.kind === 'gap' && after.kind === 'live' ? { kind: 'back' } : null;
}

/** Returns what changed between two lists of notices. */
export function compareNotices(
  before: readonly AgentNotice[],
  after: readonly AgentNotice[],
): FleetEvent['what'][] {
  const old = new Set(before.map(identifyNotice));
  const current = new Set(after.map(identifyNotice));
  return [
    ...before
      .filter((each) => !current.has(identifyNotice(each)))
      .map((notice) => ({ kind: 'notice_over', notice }) as const),
    ...after
      .filter((each) => !old.has(identifyNotice(each)))
      .map((notice) => ({ kind: 'notice', notice }) as const),
  ];
}

/** The same problem keeps this while its values change. */
function identifyNotice({ code, subject = '' }: AgentNotice): string {
  return `${code} ${subject}`;
}
