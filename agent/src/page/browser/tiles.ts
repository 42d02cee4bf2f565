import type { AgentSnapshot } from '@latchkey/contract';

import { Meter } from './components.ts';
import { fillChildren, make, setText } from './dom.ts';
import { toMetricValues } from './metric-values.ts';
import {
  formatAmount,
  formatByteRate,
  formatBytes,
  formatCelsius,
  formatPercent,
  nameGpu,
} from './format.ts';

/** A large figure. */
interface Tile {
  readonly id: string;
  readonly name: string;
  readonly value: string;
  readonly detail: string;
  readonly ratio?: number;
}

/** Lists the most important values; absent ones are left out. */
export function listTiles(snapshot: AgentSnapshot): Tile[] {
  return [
    ...toProcessorTiles(snapshot),
    ...toMemoryTiles(snapshot),
    ...toTrafficTiles(snapshot),
    ...toSpaceTiles(snapshot),
    ...toGpuTiles(snapshot),
    ...toHeatTiles(snapshot),
  ];
}

function toProcessorTiles({ cpu, load }: AgentSnapshot): Tile[] {
  const usage = cpu?.usage_ratio;
  if (usage === undefined) return [];
  const detail = load === undefined ? '' : `load ${formatAmount(load.load_1m)}`;
  return [{ id: 'cpu', name: 'Processor', value: formatPercent(usage), detail, ratio: usage }];
}

function toMemoryTiles({ memory }: AgentSnapshot): Tile[] {
  if (memory === undefined) return [];
  const { usage_ratio: ratio, used_bytes: used, total_bytes: total } = memory;
  const detail = `${formatBytes(used)} of ${formatBytes(total)}`;
  return [{ id: 'memory', name: 'Memory', value: formatPercent(ratio), detail, ratio }];
}

function toTrafficTiles(snapshot: AgentSnapshot): Tile[] {
  const values = toMetricValues(snapshot);
  const { 'disk.read': read, 'disk.write': written } = values;
  const { 'network.receive': received, 'network.transmit': sent } = values;
  return [
    ...toPairTiles('disk', 'Disks', ['read', read], ['written', written]),
    ...toPairTiles('network', 'Network', ['in', received], ['out', sent]),
  ];
}

type NamedRate = readonly [name: string, bytesPerSecond: number | undefined];

function toPairTiles(
  id: string,
  name: string,
  [first, one]: NamedRate,
  [second, other]: NamedRate,
): Tile[] {
  if (one === undefined || other === undefined) return [];
  const detail = `${first} ${formatByteRate(one)}\n${second} ${formatByteRate(other)}`;
  return [{ id, name, value: formatByteRate(one + other), detail }];
}

/** The fullest writable filesystem. */
function toSpaceTiles({ filesystems = [] }: AgentSnapshot): Tile[] {
  const [fullest] = filesystems
    .flatMap(({ mount_point: at, usage_ratio: ratio, read_only: fixed }) =>
      ratio === undefined || fixed ? [] : [{ at, ratio }],
    )
    .sort((one, other) => other.ratio - one.ratio);
  if (fullest === undefined) return [];
  const { at, ratio } = fullest;
  return [{ id: 'space', name: 'Fullest', value: formatPercent(ratio), detail: at, ratio }];
}

function toGpuTiles({ gpus = [] }: AgentSnapshot): Tile[] {
  const [busiest] = gpus
    .flatMap((gpu) => {
      const { usage_ratio: ratio } = gpu;
      return ratio === undefined ? [] : [{ detail: nameGpu(gpu, gpus), ratio }];
    })
    .sort((one, other) => other.ratio - one.ratio);
  if (busiest === undefined) return [];
  return [{ id: 'gpu', name: 'Graphics', value: formatPercent(busiest.ratio), ...busiest }];
}

function toHeatTiles({ sensors }: AgentSnapshot): Tile[] {
  const [hottest] = [...(sensors?.temperatures ?? [])].sort(
    (one, other) => other.temperature_celsius - one.temperature_celsius,
  );
  if (hottest === undefined) return [];
  const { temperature_celsius: celsius, label, chip } = hottest;
  return [
    {
      id: 'heat',
      name: 'Hottest',
      value: formatCelsius(celsius),
      detail: label ?? chip,
      ratio: celsius / 100,
    },
  ];
}

interface ShownTile {
  readonly element: HTMLElement;
  readonly name: HTMLElement;
  readonly value: HTMLElement;
  readonly detail: HTMLElement;
  readonly meter: Meter;
}

/** Creates the row of tiles. */
export function makeTiles(parent: HTMLElement): (snapshot: AgentSnapshot) => void {
  const shown: ShownTile[] = [];
  return (snapshot) => {
    fillChildren(parent, shown, listTiles(snapshot), createTile, (tile, item) => {
      tile.element.id = `tile-${item.id}`;
      setText(tile.name, item.name);
      setText(tile.value, item.value);
      setText(tile.detail, item.detail);
      tile.detail.title = item.detail;
      tile.meter.set(item.ratio);
    });
  };
}

function createTile(): ShownTile {
  const [name, value, detail] = [make('dt'), make('dd.value'), make('dd.detail')];
  const meter = new Meter();
  return {
    element: make('div.tile', name, value, detail, make('dd.bar', meter.element)),
    name,
    value,
    detail,
    meter,
  };
}
