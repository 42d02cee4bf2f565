import { join } from 'node:path';

import type { AgentPressure } from '@latchkey/contract';

import type { Collector } from '../collector.ts';
import { type PressureLine, parsePressure } from '../parse/pressure.ts';
import { present } from '../present.ts';
import { Rates, toRatio } from '../rate.ts';
import { KeptFile } from '../read/kept-file.ts';
import type { Roots } from '../roots.ts';

const RESOURCES = ['cpu', 'memory', 'io', 'irq'] as const;

/** Pressure stall information, from /proc/pressure; null where the kernel has it switched off. */
export function openPressureCollector(roots: Roots): Collector<AgentPressure> {
  const files = RESOURCES.map((resource) => ({
    resource,
    file: new KeptFile(join(roots.proc, 'pressure', resource)),
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
  const stalled = rate(line.totalSeconds);
  return present({
    stall_ratio: stalled === null ? null : toRatio(stalled),
    average_10s_ratio: line.average10s,
    average_60s_ratio: line.average60s,
    average_300s_ratio: line.average300s,
    stall_seconds_total: line.totalSeconds,
  });
}
