import { join } from 'node:path';

import type { AgentPressure } from '@latchkey/contract';

import type { Collector } from '../collector.ts';
import { present, Rates, toRatio } from '../metric-values.ts';
import { KernelFile } from '../read/kernel-file.ts';
import type { Roots } from '../roots.ts';

const RESOURCES = ['cpu', 'memory', 'io', 'irq'] as const;

/** Collects pressure stall information from /proc/pressure; null when the kernel has it disabled. */
export function openPressureCollector(roots: Roots): Collector<AgentPressure> {
  const files = RESOURCES.map((resource) => ({
    resource,
    file: new KernelFile(join(roots.proc, 'pressure', resource)),
    rates: new Rates<'some' | 'full'>(),
  }));
  return {
    collect(atMs) {
      const part: AgentPressure = {};
      for (const { resource, file, rates } of files) {
        const bytes = file.read();
        if (bytes === null) continue;
        const { some, full } = parsePressure(bytes.toString('latin1'));
        part[resource] = present({
          some: describe(some, (total) => rates.next('some', total, atMs)),
          full: describe(full, (total) => rates.next('full', total, atMs)),
        });
      }
      return Object.keys(part).length === 0 ? null : part;
    },
    close: () => files.forEach(({ file }) => file.close()),
  };
}

function describe(line: PressureLine | null, rate: (totalSeconds: number) => number | null) {
  if (line === null) return null;
  const stalled = rate(line.stall_seconds_total);
  return { ...present({ stall_ratio: stalled === null ? null : toRatio(stalled) }), ...line };
}

/** How long tasks stalled: ratios over 10, 60 and 300 seconds, and the total. */
type PressureLine = Omit<Stall, 'stall_ratio'>;
type Stall = NonNullable<NonNullable<AgentPressure['cpu']>['some']>;

const MICROSECONDS = 1_000_000;

const VALUES = 'avg10=([\\d.]+) avg60=([\\d.]+) avg300=([\\d.]+) total=(\\d+)';
const SOME = new RegExp(`^some ${VALUES}`, 'm');
const FULL = new RegExp(`^full ${VALUES}`, 'm');

/** Parses a file of /proc/pressure (kernel documentation, accounting/psi): percentages, and microseconds. */
function parsePressure(text: string) {
  return { some: readLine(SOME.exec(text)), full: readLine(FULL.exec(text)) };
}

function readLine(match: RegExpExecArray | null): PressureLine | null {
  if (match === null) return null;
  const [, ten = 0, sixty = 0, threeHundred = 0, total = 0] = match.map(Number);
  return {
    average_10s_ratio: toRatio(ten / 100),
    average_60s_ratio: toRatio(sixty / 100),
    average_300s_ratio: toRatio(threeHundred / 100),
    stall_seconds_total: total / MICROSECONDS,
  };
}
