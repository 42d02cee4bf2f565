import { join } from 'node:path';

import { present, Rates, round, toHertz, toRatio } from '../../metric-values.ts';
import { listDirectory, readNumber } from '../../read/small-file.ts';
import { type Card, type FiguresReader, type Hwmon, openHwmon } from './cards.ts';

/** A part of the GPU with its own clock (graphics, media). */
interface Engine {
  /** Files with the clock in megahertz: the actual one, then the requested one. */
  readonly clocks: readonly string[];
  /** File that counts the milliseconds in the sleep state. */
  readonly residency: string;
  /** File that contains 0 when the sleep state is disabled; null without such a file. */
  readonly residencyEnabled: string | null;
}

const MICROJOULES = 1_000_000;
const MS_PER_SECOND = 1000;

/**
 * Reads the figures of an Intel card (kernel documentation, ABI of i915 and xe). They come from registers and do not block, and
 * the counters need the time of their reading.
 */
export function openIntelReader(card: Card): FiguresReader {
  const engines = card.driver === 'xe' ? listXeEngines(card) : listI915Engines(card);
  const rates = new Rates<string>();
  const hwmon = openHwmon(card.hwmon, readNumber);
  return {
    read: (atMs) =>
      present({
        awake_ratio: highest(engines.map((engine) => readAwake(engine, rates, atMs))),
        temperature_celsius: readFirst(['temp1_input', 'temp2_input'], hwmon.celsius),
        power_watts: readPower(hwmon, rates, atMs),
        power_limit_watts: readFirst(['power1_max', 'power1_cap', 'power2_max'], hwmon.limitWatts),
        frequency_hertz: toHertz(
          highest(engines.map(({ clocks }) => readFirst(clocks, readNumber))),
        ),
      }),
    close() {},
  };
}

/** Returns the ratio of time outside the sleep state. Only privileged programs can read the time with work (perf, fdinfo). */
function readAwake(engine: Engine, rates: Rates<string>, atMs: number): number | null {
  const { residency, residencyEnabled } = engine;
  if (residencyEnabled !== null && readNumber(residencyEnabled) === 0) return null;
  const asleepMs = readNumber(residency);
  // An engine that never slept cannot sleep, and its figure would show an idle GPU as busy.
  if (asleepMs === null || asleepMs === 0) return null;
  const msPerSecond = rates.next(residency, asleepMs, atMs);
  return msPerSecond === null ? null : toRatio(1 - msPerSecond / MS_PER_SECOND);
}

/** Returns the power of the card or, where only that is measured, of its package. */
function readPower(hwmon: Hwmon, rates: Rates<string>, atMs: number): number | null {
  const watts = ['energy1_input', 'energy2_input'].map((name) => {
    const microjoules = hwmon.number(name);
    return microjoules === null ? null : rates.next(name, microjoules / MICROJOULES, atMs);
  });
  return round(watts.find((each) => each !== null) ?? null);
}

function listI915Engines({ directory }: Card): Engine[] {
  const engines = listNumbered(join(directory, 'gt'), /^gt\d{1,2}$/).map((gt) => ({
    clocks: ['rps_act_freq_mhz', 'rps_cur_freq_mhz'].map((name) => join(gt, name)),
    residency: join(gt, 'rc6_residency_ms'),
    residencyEnabled: join(gt, 'rc6_enable'),
  }));
  if (engines.length > 0) return engines;
  // Kernels before 5.18 have these files for the whole card.
  return [
    {
      clocks: ['gt_act_freq_mhz', 'gt_cur_freq_mhz'].map((name) => join(directory, name)),
      residency: join(directory, 'power/rc6_residency_ms'),
      residencyEnabled: join(directory, 'power/rc6_enable'),
    },
  ];
}

function listXeEngines({ device }: Card): Engine[] {
  return listNumbered(device, /^tile\d{1,2}$/)
    .flatMap((tile) => listNumbered(tile, /^gt\d{1,2}$/))
    .map((gt) => ({
      clocks: ['act_freq', 'cur_freq'].map((name) => join(gt, 'freq0', name)),
      residency: join(gt, 'gtidle/idle_residency_ms'),
      residencyEnabled: null,
    }));
}

function listNumbered(directory: string, pattern: RegExp): string[] {
  return listDirectory(directory)
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => join(directory, name));
}

function readFirst(names: readonly string[], read: (name: string) => number | null): number | null {
  for (const name of names) {
    const value = read(name);
    if (value !== null) return value;
  }
  return null;
}

function highest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}
