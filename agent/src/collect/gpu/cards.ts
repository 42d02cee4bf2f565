import { join } from 'node:path';

import type { AgentGpu } from '@latchkey/contract';

import { present, round, toCelsius, toShare } from '../../metric-values.ts';
import { listDirectory, readText, resolvePath } from '../../read/small-file.ts';
import type { Roots } from '../../roots.ts';

/** A card in /sys/class/drm. */
export interface Card {
  /** The directory cardN. */
  readonly directory: string;
  /** The directory of the device, without links. */
  readonly device: string;
  readonly driver: 'amdgpu' | 'i915' | 'xe';
  readonly hwmon: string | null;
  readonly facts: AgentGpu;
}

const VENDORS = { amdgpu: 'amd', i915: 'intel', xe: 'intel' } as const;

const MAX_CARDS = 64;

/** Lists the cards with a known driver, in order; outputs (`card0-DP-1`) are not cards. */
export function listCards(roots: Roots): Card[] {
  const root = join(roots.sys, 'class/drm');
  return listDirectory(root)
    .flatMap((name) => /^card(\d{1,4})$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
    .slice(0, MAX_CARDS)
    .map((index) => readCard(join(root, `card${index}`), index))
    .filter((card) => card !== null);
}

function readCard(directory: string, index: number): Card | null {
  const device = resolvePath(join(directory, 'device'));
  if (device === null) return null;
  const event = readText(join(device, 'uevent')) ?? '';
  const driver = /^DRIVER=(.+)$/m.exec(event)?.[1];
  if (driver !== 'amdgpu' && driver !== 'i915' && driver !== 'xe') return null;
  const facts = present({
    vendor: VENDORS[driver],
    index,
    name: readText(join(device, 'product_name')) || null,
    model_id: /^PCI_ID=(.+)$/m.exec(event)?.[1]?.toLowerCase() ?? null,
    pci_address: /^PCI_SLOT_NAME=(.+)$/m.exec(event)?.[1] ?? null,
  });
  return { directory, device, driver, hwmon: findHwmon(device, driver), facts };
}

/** A card may have several hwmon directories; that of the whole card has the driver's name. */
function findHwmon(device: string, driver: string): string | null {
  const root = join(device, 'hwmon');
  const paths = listDirectory(root).map((name) => join(root, name));
  return paths.find((path) => readText(join(path, 'name')) === driver) ?? null;
}

/** The variable fields of a card. */
export type Figures = Omit<
  AgentGpu,
  'vendor' | 'index' | 'name' | 'model_id' | 'uuid' | 'pci_address' | 'asleep'
>;

/** Reads the figures of one card while it is awake. */
export interface FiguresReader {
  /** @param atMs the monotonic time in milliseconds */
  read(atMs: number): Figures;
  close(): void;
}

const MICROWATTS = 1_000_000;

/** The sensors of a card; each returns null when it is missing. */
export interface Hwmon {
  readonly number: (name: string) => number | null;
  readonly celsius: (name: string) => number | null;
  readonly watts: (name: string) => number | null;
  /** As `watts`; 0 means no limit, and becomes null. */
  readonly limitWatts: (name: string) => number | null;
  /** The fan's set value (up to 255) or its speed, as a ratio of the maximum. */
  readonly fanRatio: () => number | null;
}

/**
 * Opens a hwmon directory (kernel documentation, hwmon/sysfs-interface).
 * @param directory null where the card has none
 * @param read reads a number from a file
 */
export function openHwmon(directory: string | null, read: (path: string) => number | null): Hwmon {
  const number = (name: string): number | null =>
    directory === null ? null : read(join(directory, name));
  const watts = (name: string): number | null => {
    const microwatts = number(name);
    return microwatts === null || microwatts < 0 ? null : round(microwatts / MICROWATTS);
  };
  return {
    number,
    watts,
    limitWatts: (name) => watts(name) || null,
    celsius: (name) => toCelsius(number(name)),
    fanRatio() {
      const set = toShare(number('pwm1'), number('pwm1_max'));
      const turning = toShare(number('fan1_input'), number('fan1_max'));
      return set ?? turning;
    },
  };
}
