import { describeNotice } from '../../browser/notices.ts';
import type { FleetEvent } from '../core/types.ts';
import { describeGap } from './problems.ts';

/** Describes an event in a sentence with the name of its machine. @param origin of this page */
export function describeEvent({ at, machine: { name }, what }: FleetEvent, origin: string): string {
  switch (what.kind) {
    case 'gap':
      return `${name} ${describeGap(what, at, origin)}`;
    case 'back':
      return `${name} answers again.`;
    case 'rebooted':
      return `${name} rebooted.`;
    case 'agent_restarted':
      return `The agent of ${name} restarted.`;
    case 'notice':
      return `${name}: ${describeNotice(what.notice)}`;
    case 'notice_over':
      return `${name}, over: ${describeNotice(what.notice)}`;
    default:
      return '';
  }
}

/** More events at once are counted. */
const MOST_SENTENCES = 3;

/** Describes events for screen readers. A failed network would otherwise be read for minutes. */
export function summarizeEvents(events: readonly FleetEvent[], origin: string): string {
  if (events.length <= MOST_SENTENCES) {
    return events.map((event) => describeEvent(event, origin)).join(' ');
  }
  const bad = events.filter(({ what }) => what.kind === 'gap' || what.kind === 'notice');
  const machines = new Set(bad.map(({ machine }) => machine.id)).size;
  const others = events.length - bad.length;
  const parts = [
    machines === 0 ? '' : `New problems of ${countMachines(machines)}.`,
    others === 0 ? '' : `${others} other ${others === 1 ? 'change' : 'changes'}.`,
  ];
  return parts.filter(Boolean).join(' ');
}

function countMachines(count: number): string {
  return count === 1 ? '1 machine' : `${count} machines`;
}

/** Returns the events after one that was seen; all, when it is gone or null. */
export function listNewer(
  events: readonly FleetEvent[],
  seen: FleetEvent | null,
): readonly FleetEvent[] {
  return seen === null ? events : events.slice(events.lastIndexOf(seen) + 1);
}
