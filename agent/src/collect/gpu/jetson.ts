import { join } from 'node:path';

import type { AgentGpu } from '@latchkey/contract';

import type { Collector } from '../../collector.ts';
import { type TegraReading, parseTegrastats } from '../../parse/tegrastats.ts';
import { present } from '../../present.ts';
import { findProgram } from '../../read/program.ts';
import { readText } from '../../read/small-file.ts';
import type { Roots } from '../../roots.ts';
import { ToolRunner } from './tool.ts';
import { toBytes, toHertz, toPercentRatio } from './units.ts';

const MILLIWATTS = 1000;

/** Whether the machine is a Jetson, or another with a Tegra. */
export function isTegra(roots: Roots): boolean {
  return readText(join(roots.proc, 'device-tree/compatible'))?.includes('nvidia,tegra') ?? false;
}

/**
 * The GPU of a Jetson, from one `tegrastats` that runs as long as somebody asks.
 * @param searchPath where programs lie, as in PATH
 * @param intervalMs how often it is to say something
 */
export function openJetsonCollector(
  roots: Roots,
  searchPath: string,
  intervalMs: number,
): Collector<AgentGpu[]> {
  const name = readText(join(roots.proc, 'device-tree/model'))?.replaceAll('\0', '') ?? null;
  const runner = new ToolRunner<TegraReading>({
    name: 'tegrastats',
    intervalMs,
    find: () => findProgram('tegrastats', searchPath),
    args: () => ['--interval', String(intervalMs)],
    parse: parseTegrastats,
  });
  return {
    collect(atMs) {
      const reading = runner.collect(atMs);
      return reading === null ? null : [describeGpu(name, reading)];
    },
    rest: (atMs) => runner.rest(atMs),
    close: () => runner.close(),
  };
}

function describeGpu(name: string | null, reading: TegraReading): AgentGpu {
  const { powerMilliwatts } = reading;
  return present({
    vendor: 'nvidia' as const,
    index: 0,
    name,
    usage_ratio: toPercentRatio(reading.usagePercent),
    memory_used_bytes: toBytes(reading.memoryUsedMebibytes),
    memory_total_bytes: toBytes(reading.memoryTotalMebibytes),
    memory_shared: true,
    temperature_celsius: reading.temperatureCelsius,
    power_watts: powerMilliwatts === null ? null : powerMilliwatts / MILLIWATTS,
    frequency_hertz: toHertz(reading.clockMegahertz),
  });
}
