import { join } from 'node:path';

import { type Collector, every } from '../collector.ts';
import type { BackgroundReader } from '../read/background-reader.ts';
import { listDirectory, parseNumber } from '../read/small-file.ts';
import type { Roots } from '../roots.ts';

/** A read may wake a sleeping core. */
const INTERVAL_MS = 5_000;

/** How often cores are searched again: a core may go offline. */
const SCAN_INTERVAL_MS = 60_000;

const MAX_CORES = 256;

const HERTZ_PER_KILOHERTZ = 1000;

/**
 * Opens the clocks of the cores in hertz, by number (cpufreq); null without them, as on virtual machines. On x86, kernels 4.14 to
 * 5.17 measure a busy core for 10 ms while its file is read, so the background reader reads them.
 */
export function openFrequencies(
  roots: Roots,
  reader: BackgroundReader,
): Collector<ReadonlyMap<number, number>> {
  const isDue = every(INTERVAL_MS);
  const isScanDue = every(SCAN_INTERVAL_MS);
  let files: ReadonlyMap<number, string> = new Map();

  function scan(): void {
    const before = new Set(files.values());
    files = listFiles(roots);
    reader.closeFiles(before.difference(new Set(files.values())));
  }

  return {
    collect(atMs) {
      if (isScanDue(atMs)) scan();
      if (isDue(atMs)) reader.refresh([...files.values()]);
      const frequencies = new Map<number, number>();
      for (const [core, path] of files) {
        const kilohertz = parseNumber(reader.textOf(path));
        if (kilohertz !== null) frequencies.set(core, kilohertz * HERTZ_PER_KILOHERTZ);
      }
      return frequencies.size === 0 ? null : frequencies;
    },
    close: () => reader.closeFiles(files.values()),
  };
}

function listFiles(roots: Roots): ReadonlyMap<number, string> {
  const directory = join(roots.sys, 'devices/system/cpu');
  const cores = listDirectory(directory)
    .map((name) => /^cpu(\d{1,5})$/.exec(name)?.[1])
    .filter((core) => core !== undefined)
    .slice(0, MAX_CORES);
  return new Map(
    cores.map((core) => [Number(core), join(directory, `cpu${core}`, 'cpufreq/scaling_cur_freq')]),
  );
}
