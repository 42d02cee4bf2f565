import type { AgentDisk, AgentFilesystem, AgentInterface } from '@latchkey/contract';

import { Chart } from './chart.ts';
import {
  Card,
  type Cell,
  type MeterItem,
  MeterList,
  type Panel,
  type PanelContext,
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

export function makeNetworkPanel({ timeline }: PanelContext): Panel {
  const chart = new Chart(timeline, { format: formatByteRate, least: 10_000 });
  const table = new Table('Network interfaces', ['Interface', 'Link', 'Received', 'Sent', 'Lost']);
  const card = new Card('network', 'Network', chart.element, table.element);
  chart.setLines([
    { key: 'network.receive', label: 'Received', colour: 'green', isFilled: true },
    { key: 'network.transmit', label: 'Sent', colour: 'violet', isFilled: true },
  ]);
  return {
    element: card.element,
    draw: () => chart.draw(),
    update({ network }) {
      if (network === undefined) return false;
      table.show(network.interfaces.map(toInterfaceRow));
      return true;
    },
  };
}

function toInterfaceRow(each: AgentInterface): Cell[] {
  const { receive_bytes_per_second: received, transmit_bytes_per_second: sent } = each;
  const lost =
    each.receive_errors_total +
    each.transmit_errors_total +
    each.receive_drops_total +
    each.transmit_drops_total;
  return [
    each.interface,
    describeLink(each),
    received === undefined ? undefined : formatByteRate(received),
    sent === undefined ? undefined : formatByteRate(sent),
    formatCount(lost),
  ];
}

function describeLink({ up, speed_bits_per_second: speed, kind }: AgentInterface): string {
  if (up === false) return 'down';
  return speed === undefined ? kind : formatBitRate(speed);
}

export function makeDiskPanel({ timeline }: PanelContext): Panel {
  const chart = new Chart(timeline, { format: formatByteRate, least: 10_000 });
  const table = new Table('Disks', ['Device', 'Read', 'Written', 'Busy', 'Latency']);
  const card = new Card('disks', 'Disks', chart.element, table.element);
  chart.setLines([
    { key: 'disk.read', label: 'Read', colour: 'teal', isFilled: true },
    { key: 'disk.write', label: 'Written', colour: 'amber', isFilled: true },
  ]);
  return {
    element: card.element,
    draw: () => chart.draw(),
    update({ disks = [] }) {
      table.show(disks.map(toDiskRow));
      return disks.length > 0;
    },
  };
}

function toDiskRow(disk: AgentDisk): Cell[] {
  const { read_bytes_per_second: read, write_bytes_per_second: written, busy_ratio: busy } = disk;
  const latency = Math.max(disk.read_latency_seconds ?? -1, disk.write_latency_seconds ?? -1);
  return [
    disk.name ?? disk.device,
    read === undefined ? undefined : formatByteRate(read),
    written === undefined ? undefined : formatByteRate(written),
    busy === undefined ? undefined : formatPercent(busy),
    latency < 0 ? undefined : formatLatency(latency),
  ];
}

export function makeFilesystemPanel(): Panel {
  const list = new MeterList();
  const card = new Card('filesystems', 'Filesystems', list.element);
  return {
    element: card.element,
    update({ filesystems = [] }) {
      list.show(filesystems.map(toFilesystemItem));
      return filesystems.length > 0;
    },
  };
}

/** What is said of a filesystem; one that does not answer shows its old figures, if there are any, and says so. */
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
    detail: detail.filter((part) => part !== undefined).join(' · '),
    value: isStale ? 'does not answer' : ratio === undefined ? '–' : formatPercent(ratio),
    isBad: isStale,
    ratio,
    isJudged: !filesystem.read_only,
  };
}
