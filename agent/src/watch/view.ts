import type { AgentHello, AgentHistoryPoint, AgentSnapshot } from '@latchkey/contract';

import { formatBytesPerSecond, formatLoad, formatRatio } from '../cli/format.ts';
import { toPoint } from '../stream/history.ts';
import type { Message } from './read-message.ts';

/** No terminal is wider. */
const MAX_POINTS = 600;

/** How it stands with the connection. */
export type ConnectionState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  /** Connected, but nothing has come for a while. */
  | { readonly kind: 'silent'; readonly seconds: number }
  /** Lost, and tried again in so many seconds. */
  | { readonly kind: 'waiting'; readonly seconds: number; readonly why: string };

/** All that is drawn. */
export interface View {
  /** Where the agent is, as the person wrote it. */
  readonly address: string;
  readonly state: ConnectionState;
  readonly hello: AgentHello | null;
  readonly snapshot: AgentSnapshot | null;
  /** The oldest first. */
  readonly points: readonly AgentHistoryPoint[];
}

/** Before anything has come. */
export function emptyView(address: string): View {
  return { address, state: { kind: 'connecting' }, hello: null, snapshot: null, points: [] };
}

/** The view after a message. A hello brings the minutes before it, also those without connection. */
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

/** What the agent does not know any more, since it was started anew, stays; a point without figures shows the gap. */
function joinPoints(
  known: readonly AgentHistoryPoint[],
  told: readonly AgentHistoryPoint[],
): readonly AgentHistoryPoint[] {
  const [first] = told;
  const before = known.filter(({ time }) => first === undefined || time < first.time);
  const gap = before.length === 0 ? [] : [{ time: before.at(-1)?.time ?? '' }];
  return [...before, ...gap, ...told].slice(-MAX_POINTS);
}

/** A snapshot in one line, for a file or a pipe. */
export function describeSnapshot(snapshot: AgentSnapshot): string {
  const { time, load, swap, filesystems = [] } = snapshot;
  const point = toPoint(snapshot);
  const [fullest] = filesystems.toSorted(
    (one, other) => (other.usage_ratio ?? -1) - (one.usage_ratio ?? -1),
  );
  return [
    time,
    ...tell('cpu', point.cpu_usage_ratio, formatRatio),
    ...tell('load', load?.load_1m, formatLoad),
    ...tell('memory', point.memory_usage_ratio, formatRatio),
    ...tell('swap', swap?.usage_ratio, formatRatio),
    ...tell('received', point.receive_bytes_per_second, formatBytesPerSecond),
    ...tell('sent', point.transmit_bytes_per_second, formatBytesPerSecond),
    ...tell('read', point.disk_read_bytes_per_second, formatBytesPerSecond),
    ...tell('written', point.disk_write_bytes_per_second, formatBytesPerSecond),
    ...tell(fullest?.mount_point ?? '', fullest?.usage_ratio, formatRatio),
  ].join('  ');
}

function tell(
  name: string,
  value: number | undefined,
  format: (value: number) => string,
): string[] {
  return value === undefined ? [] : [`${name} ${format(value)}`];
}
