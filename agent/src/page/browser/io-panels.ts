import type { AgentDisk, AgentFilesystem, AgentInterface } from '@latchkey/contract';

import { Chart } from './chart.ts';
import {
  Card,
  type Cell,
  formatKnown,
  joinKnown,
  makeChartPanel,
  makeListPanel,
  type MeterItem,
  type Panel,
  Table,
} from './components.ts';
import {
  formatBitRate,
  formatByteRate,
  formatBytes,
  formatCount,
  formatLatency,
  formatPercent,
} from './format.ts';
import type { Timeline } from './timeline.ts';

export function makeNetworkPanel(timeline: Timeline): Panel {
  const chart = new Chart(timeline, { format: formatByteRate, least: 10_000 });
  const table = new Table('Network interfaces', ['Interface', 'Link', 'Received', 'Sent', 'Lost']);
  const card = new Card('network', 'Network', chart.element, table.element);
  chart.setLines([
    { key: 'network.receive', label: 'Received', colour: 'green', isFilled: true },
    { key: 'network.transmit', label: 'Sent', colour: 'violet', isFilled: true },
  ]);
  return makeChartPanel(card, chart, ({ network }) => {
    if (network === undefined) return false;
    table.show(network.interfaces.map(toInterfaceRow));
    return true;
  });
}

function toInterfaceRow(each: AgentInterface): Cell[] {
  const lost =
    each.receive_errors_total +
    each.transmit_errors_total +
    each.receive_drops_total +
    each.transmit_drops_total;
  return [
    each.interface,
    describeLink(each),
    formatKnown(each.receive_bytes_per_second, formatByteRate),
    formatKnown(each.transmit_bytes_per_second, formatByteRate),
    formatCount(lost),
  ];
}

function describeLink({ up, speed_bits_per_second: speed, kind }: AgentInterface): string {
  if (up === false) return 'down';
  return speed === undefined ? kind : formatBitRate(speed);
}

export function makeDiskPanel(timeline: Timeline): Panel {
  const chart = new Chart(timeline, { format: formatByteRate, least: 10_000 });
  const table = new Table('Disks', ['Device', 'Read', 'Written', 'Busy', 'Latency']);
  const card = new Card('disks', 'Disks', chart.element, table.element);
  chart.setLines([
    { key: 'disk.read', label: 'Read', colour: 'teal', isFilled: true },
    { key: 'disk.write', label: 'Written', colour: 'amber', isFilled: true },
  ]);
  return makeChartPanel(card, chart, ({ disks = [] }) => {
    table.show(disks.map(toDiskRow));
    return disks.length > 0;
  });
}

function toDiskRow(disk: AgentDisk): Cell[] {
  const latency = Math.max(disk.read_latency_seconds ?? -1, disk.write_latency_seconds ?? -1);
  return [
    disk.name ?? disk.device,
    formatKnown(disk.read_bytes_per_second, formatByteRate),
    formatKnown(disk.write_bytes_per_second, formatByteRate),
    formatKnown(disk.busy_ratio, formatPercent),
    latency < 0 ? undefined : formatLatency(latency),
  ];
}

export function makeFilesystemPanel(): Panel {
  return makeListPanel('filesystems', 'Filesystems', ({ filesystems = [] }) =>
    filesystems.map(toFilesystemItem),
  );
}

/** Describes a filesystem. A stale one keeps its last figures. */
function toFilesystemItem(filesystem: AgentFilesystem): MeterItem {
  const { used_bytes: used, available_bytes: available, usage_ratio: ratio } = filesystem;
  const space =
    used === undefined || available === undefined
      ? undefined
      : `${formatBytes(used)} used, ${formatBytes(available)} left`;
  const detail = [filesystem.type, filesystem.read_only ? 'read only' : undefined, space];
  const isStale = filesystem.stale === true;
  return {
    name: filesystem.mount_point,
    detail: joinKnown(detail),
    value: isStale ? 'does not answer' : (formatKnown(ratio, formatPercent) ?? '–'),
    isBad: isStale,
    ratio,
    isJudged: !filesystem.read_only,
  };
}
