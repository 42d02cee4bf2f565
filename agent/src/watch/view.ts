import type { AgentHello, AgentHistoryPoint, AgentSnapshot } from '@latchkey/contract';

import { formatBytesPerSecond, formatLoad, formatRatio } from '../cli/format.ts';
import { toPoint } from '../stream/history.ts';
import type { Message } from './read-message.ts';

/** Wider than any terminal. */
const MAX_POINTS = 600;

/** The state of the connection. */
export type ConnectionState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  /** Connected, but no message has arrived for a while. */
  | { readonly kind: 'silent'; readonly seconds: number }
  /** Lost, with a retry in so many seconds. */
  | { readonly kind: 'waiting'; readonly seconds: number; readonly why: string };

/** The data that is drawn. */
export interface View {
  /** The address of the agent. */
  readonly address: string;
  readonly state: ConnectionState;
  readonly hello: AgentHello | null;
  readonly snapshot: AgentSnapshot | null;
  /** The oldest first. */
  readonly points: readonly AgentHistoryPoint[];
}

/** Returns the view before the first message. */
export function emptyView(address: string): View {
  return { address, state: { kind: 'connecting' }, hello: null, snapshot: null, points: [] };
}

/** Returns the view after a message. A hello brings the history, also of the time without connection. */
export function addMessage(view: View, message: Message): View {
  if (message.kind === 'hello') {
    const { hello } = message;
    const points = joinPoints(view.points, hello.history);
    return { ...view, state: { kind: 'live' }, hello, points };
  }
  const { snapshot } = message;
  const points = [...view.points.slice(1 - MAX_POINTS), toPoint(snapshot)];
  return { ...view, state: { kind: 'live' }, snapshot, points };
}

/** Keeps points from before a restart of the agent; a point without figures marks the gap. */
function joinPoints(
  known: readonly AgentHistoryPoint[],
  received: readonly AgentHistoryPoint[],
): readonly AgentHistoryPoint[] {
  const [first] = received;
  const before = known.filter(({ time }) => first === undefined || time < first.time);
  const gap = before.length === 0 ? [] : [{ time: before.at(-1)?.time ?? '' }];
  return [...before, ...gap, ...received].slice(-MAX_POINTS);
}

/** Formats a snapshot in one line, for a file or a pipe. */
export function describeSnapshot(snapshot: AgentSnapshot): string {
  const { time, load, swap, filesystems = [] } = snapshot;
  const point = toPoint(snapshot);
  const [fullest] = filesystems.toSorted(
    (one, other) => (other.usage_ratio ?? -1) - (one.usage_ratio ?? -1),
  );
  return [
    time,
    ...describe('cpu', point.cpu_usage_ratio, formatRatio),
    ...describe('load', load?.load_1m, formatLoad),
    ...describe('memory', point.memory_usage_ratio, formatRatio),
    ...describe('swap', swap?.usage_ratio, formatRatio),
    ...describe('received', point.receive_bytes_per_second, formatBytesPerSecond),
    ...describe('sent', point.transmit_bytes_per_second, formatBytesPerSecond),
    ...describe('read', point.disk_read_bytes_per_second, formatBytesPerSecond),
    ...describe('written', point.disk_write_bytes_per_second, formatBytesPerSecond),
    ...describe(fullest?.mount_point ?? '', fullest?.usage_ratio, formatRatio),
  ].join('  ');
}

function describe(
  name: string,
  value: number | undefined,
  format: (value: number) => string,
): string[] {
  return value === undefined ? [] : [`${name} ${format(value)}`];
}
