import { join } from 'node:path';

import type { AgentBattery } from '@latchkey/contract';

import { type Collector, every } from '../collector.ts';
import { listPresent, present, round, shareOf } from '../metric-values.ts';
import type { BackgroundReader } from '../read/background-reader.ts';
import { listDirectory, parseNumber, readText } from '../read/small-file.ts';
import type { Roots } from '../roots.ts';

const INTERVAL_MS = 10_000;

const SCAN_INTERVAL_MS = 60_000;

const MAX_BATTERIES = 8;

const MICRO = 1_000_000;

const FILES = [
  'status',
  'capacity',
  'energy_now',
  'energy_full',
  'energy_full_design',
  'charge_now',
  'charge_full',
  'charge_full_design',
  'power_now',
  'current_now',
  'voltage_now',
  'cycle_count',
] as const;

type File = (typeof FILES)[number];

interface Battery {
  readonly name: string;
  readonly paths: ReadonlyMap<File, string>;
}

const STATUS: ReadonlyMap<string, AgentBattery['status']> = new Map([
  ['Charging', 'charging'],
  ['Discharging', 'discharging'],
  ['Full', 'full'],
  ['Not charging', 'not_charging'],
]);

/** Collects the machine's own batteries from /sys/class/power_supply; those of peripherals are left out. */
export function openBatteriesCollector(
  roots: Roots,
  reader: BackgroundReader,
): Collector<AgentBattery[]> {
  const isScanDue = every(SCAN_INTERVAL_MS);
  const isDue = every(INTERVAL_MS);
  let batteries: Battery[] = [];
  return {
    collect(atMs) {
      if (isScanDue(atMs)) batteries = listBatteries(roots);
      if (isDue(atMs)) reader.refresh(batteries.flatMap(({ paths }) => [...paths.values()]));
      return listPresent(batteries.map((battery) => describeBattery(battery, reader)));
    },
  };
}

function listBatteries(roots: Roots): Battery[] {
  const directory = join(roots.sys, 'class/power_supply');
  return listDirectory(directory)
    .filter((name) => readText(join(directory, name, 'type')) === 'Battery')
    .filter((name) => readText(join(directory, name, 'scope')) !== 'Device')
    .slice(0, MAX_BATTERIES)
    .sort()
    .map((name) => {
      const there = new Set(listDirectory(join(directory, name)));
      const files = FILES.filter((file) => there.has(file));
      return { name, paths: new Map(files.map((file) => [file, join(directory, name, file)])) };
    });
}

function describeBattery({ name, paths }: Battery, reader: BackgroundReader): AgentBattery | null {
  const text = (file: File): string | null => reader.textOf(paths.get(file) ?? '');
  const value = (file: File): number | null => parseNumber(text(file));
  const status = text('status');
  if (status === null) return null;
  const full = value('energy_full') ?? value('charge_full');
  const design = value('energy_full_design') ?? value('charge_full_design');
  const percent = value('capacity');
  const cycles = value('cycle_count') ?? 0;
  return present({
    name,
    status: STATUS.get(status) ?? 'unknown',
    charge_ratio:
      ratioOf(value('energy_now') ?? value('charge_now'), full) ?? ratioOf(percent, 100),
    health_ratio: ratioOf(full, design),
    power_watts: toWatts(value('power_now'), value('current_now'), value('voltage_now')),
    // Drivers that do not count cycles report 0.
    cycles: cycles > 0 ? cycles : null,
  });
}

function ratioOf(part: number | null, whole: number | null): number | null {
  return part === null || whole === null ? null : shareOf(part, whole);
}

/** Converts microwatts, or microamperes and microvolts; some drivers report a discharge as negative. */
function toWatts(power: number | null, current: number | null, voltage: number | null) {
  if (power !== null) return round(Math.abs(power) / MICRO);
  if (current === null || voltage === null) return null;
  return round((Math.abs(current) / MICRO) * (voltage / MICRO));
}
