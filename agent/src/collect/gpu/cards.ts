import { join } from 'node:path';

import type { AgentGpu } from '@latchkey/contract';

import { present } from '../../present.ts';
import { resolvePath } from '../../read/real-path.ts';
import { listDirectory, readText } from '../../read/small-file.ts';
import type { Roots } from '../../roots.ts';

/** A card of which the kernel's driver says something in /sys/class/drm. */
export interface Card {
  /** cardN, which has what is about graphics. */
  readonly directory: string;
  /** The directory of the device, without links. */
  readonly device: string;
  readonly driver: 'amdgpu' | 'i915' | 'xe';
  readonly hwmon: string | null;
  readonly facts: AgentGpu;
}

const VENDORS = { amdgpu: 'amd', i915: 'intel', xe: 'intel' } as const;

const MAX_CARDS = 64;

/** The cards with a driver that we know, in their order; their outputs (`card0-DP-1`) are not cards. */
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

/** A card may have several; the one of the card as a whole bears the driver's name. */
function findHwmon(device: string, driver: string): string | null {
  const root = join(device, 'hwmon');
  const paths = listDirectory(root).map((name) => join(root, name));
  return paths.find((path) => readText(join(path, 'name')) === driver) ?? null;
}
