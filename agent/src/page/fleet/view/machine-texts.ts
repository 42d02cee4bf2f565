import { formatDuration, formatTime } from '../../browser/format.ts';
import { parseMachineAddress } from '../core/machine-address.ts';
import type { Machine } from '../core/types.ts';

/** Returns the address of a machine's own page. @param address as listed, the port may be missing */
export function toPageUrl(address: string): string {
  return `https://${parseMachineAddress(address) ?? address}/`;
}

/** Formats how long something lasts; to the minute, so that the text rarely changes. */
export function formatAge(sinceMs: number, nowMs: number): string {
  const seconds = Math.max(0, nowMs - sinceMs) / 1000;
  return seconds < 60 ? 'new' : `for ${formatDuration(seconds)}`;
}

/** Describes what happened to a machine since the page was opened, and why its figures are not live; empty: nothing. */
export function describeRemark(machine: Machine, nowMs: number): string {
  const { rebootedAt, agentRestartedAt, latestAt, state } = machine;
  const parts = [
    rebootedAt === null ? '' : `rebooted ${formatTime(rebootedAt / 1000)}`,
    agentRestartedAt === null ? '' : `agent restarted ${formatTime(agentRestartedAt / 1000)}`,
    state.kind === 'waiting' ? describeWait(latestAt, nowMs) : '',
  ];
  return parts.filter(Boolean).join(', ');
}

function describeWait(latestAt: number | null, nowMs: number): string {
  if (latestAt === null) return 'no answer yet';
  return `${formatDuration(Math.max(0, nowMs - latestAt) / 1000)} ago`;
}
