import type { AgentDisk, AgentHistoryPoint, AgentSnapshot } from '@latchkey/contract';

import type { PartName } from '../collector.ts';
import { present } from '../metric-values.ts';

/** Five minutes at one snapshot per second. */
const MAX_POINTS = 300;

/** The parts that are collected also without viewers. */
export const HISTORY_PARTS: ReadonlySet<PartName> = new Set<PartName>([
  'cpu',
  'load',
  'memory',
  'disks',
  'network',
]);

/** A few figures of the last minutes, so that a new viewer's charts are not empty. */
export class History {
  readonly #points: AgentHistoryPoint[] = [];

  /** Adds the figures of a snapshot, and returns them. */
  add(snapshot: AgentSnapshot): AgentHistoryPoint {
    const point = toPoint(snapshot);
    if (this.#points.length === MAX_POINTS) this.#points.shift();
    this.#points.push(point);
    return point;
  }

  /** Oldest first. */
  get points(): AgentHistoryPoint[] {
    return this.#points;
  }
}

/** Reduces a snapshot to the figures of the history. */
export function toPoint({
  time,
  cpu,
  load,
  memory,
  disks,
  network,
}: AgentSnapshot): AgentHistoryPoint {
  return present({
    time,
    cpu_usage_ratio: cpu?.usage_ratio ?? null,
    load_1m: load?.load_1m ?? null,
    memory_usage_ratio: memory?.usage_ratio ?? null,
    disk_read_bytes_per_second: sumOf(disks, 'read_bytes_per_second'),
    disk_write_bytes_per_second: sumOf(disks, 'write_bytes_per_second'),
    receive_bytes_per_second: network?.receive_bytes_per_second ?? null,
    transmit_bytes_per_second: network?.transmit_bytes_per_second ?? null,
  });
}

/** Sums disks only: mappers and RAIDs are stacked on them. */
function sumOf(
  disks: readonly AgentDisk[] | undefined,
  field: 'read_bytes_per_second' | 'write_bytes_per_second',
): number | null {
  let sum: number | null = null;
  for (const disk of disks ?? []) {
    const value = disk.kind === 'disk' ? disk[field] : undefined;
    if (value !== undefined) sum = (sum ?? 0) + value;
  }
  return sum;
}
