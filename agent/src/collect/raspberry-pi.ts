import { join } from 'node:path';

import type { AgentRaspberryPi } from '@latchkey/contract';

import { type Collector, every } from '../collector.ts';
import type { BackgroundReader } from '../read/background-reader.ts';
import { listDirectory } from '../read/small-file.ts';
import type { Roots } from '../roots.ts';

/** Each reading is a request to the firmware. */
const INTERVAL_MS = 5_000;

/** Bits of get_throttled (Raspberry Pi documentation, vcgencmd); those since boot are 16 higher. */
const UNDER_VOLTAGE = 0;
const FREQUENCY_CAPPED = 1;
const THROTTLED = 2;
const SOFT_TEMPERATURE_LIMIT = 3;
const SINCE_BOOT = 16;

/** Collects whether a Raspberry Pi is throttled by its power supply or temperature; null on other machines. */
export function openRaspberryPiCollector(
  roots: Roots,
  reader: BackgroundReader,
): Collector<AgentRaspberryPi> {
  const path = findFile(roots);
  const isDue = every(INTERVAL_MS);
  return {
    collect(atMs) {
      if (path === null) return null;
      if (isDue(atMs)) reader.refresh([path]);
      return parseThrottled(reader.textOf(path));
    },
  };
}

function findFile(roots: Roots): string | null {
  const driver = join(roots.sys, 'bus/platform/drivers/raspberrypi-firmware');
  const device = listDirectory(driver).find((name) => name.endsWith('firmware'));
  return device === undefined ? null : join(driver, device, 'get_throttled');
}

/** Parses a hexadecimal number, with or without 0x. */
function parseThrottled(text: string | null): AgentRaspberryPi | null {
  if (text === null || !/^(0x)?[0-9a-f]{1,8}$/i.test(text)) return null;
  const bits = Number.parseInt(text, 16);
  const isSet = (bit: number): boolean => ((bits >> bit) & 1) === 1;
  const flagsOf = (bit: number) => ({ now: isSet(bit), since_boot: isSet(bit + SINCE_BOOT) });
  return {
    under_voltage: flagsOf(UNDER_VOLTAGE),
    frequency_capped: flagsOf(FREQUENCY_CAPPED),
    throttled: flagsOf(THROTTLED),
    soft_temperature_limit: flagsOf(SOFT_TEMPERATURE_LIMIT),
  };
}
