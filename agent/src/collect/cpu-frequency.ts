import { join } from 'node:path';

import { type Collector, atMostEvery } from '../collector.ts';
import { listDirectory, readNumber } from '../read/small-file.ts';
import type { Roots } from '../roots.ts';

/** Asking may wake a core that sleeps, so it is not done every second. */
const INTERVAL_MS = 5_000;

const MAX_CORES = 256;

const HERTZ_PER_KILOHERTZ = 1000;

/** The clocks of the cores in hertz, by number (cpufreq); null on machines that do not say, such as virtual ones. */
export function openFrequencies(roots: Roots): Collector<ReadonlyMap<number, number>> {
  return atMostEvery(INTERVAL_MS, { collect: () => readFrequencies(roots) });
}

function readFrequencies(roots: Roots): ReadonlyMap<number, number> | null {
  const directory = join(roots.sys, 'devices/system/cpu');
  const frequencies = new Map<number, number>();
  for (const name of listDirectory(directory)) {
    const core = /^cpu(\d{1,5})$/.exec(name)?.[1];
    if (core === undefined || frequencies.size >= MAX_CORES) continue;
    const kilohertz = readNumber(join(directory, name, 'cpufreq/scaling_cur_freq'));
    if (kilohertz !== null) frequencies.set(Number(core), kilohertz * HERTZ_PER_KILOHERTZ);
  }
  return frequencies.size === 0 ? null : frequencies;
}
