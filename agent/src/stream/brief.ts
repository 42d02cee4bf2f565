import type { AgentBriefHello, AgentBriefHistory, AgentHistoryPoint } from '@latchkey/contract';

import type { PartName } from '../collector.ts';
import { HISTORY_PARTS } from './history.ts';

/** The subprotocol for pages that watch many machines. */
export const BRIEF = 'latchkey.brief.v1';

/**
 * The parts that its viewers need: the history, and the parts with problems. All are cheap; programs that report GPUs, processes
 * and containers stay idle.
 */
export const BRIEF_PARTS: ReadonlySet<PartName> = new Set<PartName>([
  ...HISTORY_PARTS,
  'disk_health',
  'filesystems',
  'sensors',
  'batteries',
  'units',
  'raspberry_pi',
]);

const COLUMNS = [
  'cpu_usage_ratio',
  'load_1m',
  'memory_usage_ratio',
  'disk_read_bytes_per_second',
  'disk_write_bytes_per_second',
  'receive_bytes_per_second',
  'transmit_bytes_per_second',
] as const satisfies readonly (keyof AgentBriefHistory)[];

/** Creates the first message: as columns, the history takes a third of the bytes. */
export function toBriefHello(
  facts: Omit<AgentBriefHello, 'history' | 'schema_version' | 'type'>,
  points: readonly AgentHistoryPoint[],
): AgentBriefHello {
  const history: AgentBriefHistory = { time: points.map(({ time }) => time) };
  for (const name of COLUMNS) {
    const column = points.map((point) => point[name] ?? null);
    if (column.some((value) => value !== null)) history[name] = column;
  }
  return { type: 'hello', schema_version: 1, ...facts, history };
}
