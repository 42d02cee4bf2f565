import type { AgentSnapshot } from '@latchkey/contract';

import { formatBytesPerSecond, formatLoad, formatRatio } from '../cli/units.ts';
import { toPoint } from '../stream/history.ts';

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
