import type { AgentDisk, AgentFilesystem } from '@latchkey/contract';

import { Chart } from './chart.ts';
import { Card, type Cell, type MeterItem, MeterList, Table } from './components.ts';
import { formatByteRate, formatBytes, formatLatency, formatPercent } from './format.ts';
import type { Panel, PanelContext } from './panel.ts';

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
