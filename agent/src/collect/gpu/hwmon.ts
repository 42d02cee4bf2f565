import { join } from 'node:path';

import { round } from '../../rate.ts';
import { toCelsius } from '../celsius.ts';
import { toShare } from './units.ts';

const MICROWATTS = 1_000_000;

/** What a card measures of itself; null each where it does not. */
export interface Hwmon {
  readonly number: (name: string) => number | null;
  readonly celsius: (name: string) => number | null;
  readonly watts: (name: string) => number | null;
  /** As `watts`; 0 says that there is no limit. */
  readonly limitWatts: (name: string) => number | null;
  /** What the fan is told: a value up to 255, or turns where the driver knows the highest. */
  readonly fanRatio: () => number | null;
}

/**
 * The files of a directory of hwmon (kernel documentation, hwmon/sysfs-interface).
 * @param directory null where the card has none
 * @param read how to read a number
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
      const told = toShare(number('pwm1'), number('pwm1_max'));
      const turning = toShare(number('fan1_input'), number('fan1_max'));
      return told ?? turning;
    },
  };
}
