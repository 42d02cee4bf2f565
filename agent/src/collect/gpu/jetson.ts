import { join } from 'node:path';

import type { AgentGpu } from '@latchkey/contract';

import type { Collector } from '../../collector.ts';
import { present, toBytes, toHertz, toPercentRatio } from '../../metric-values.ts';
import { findProgram, readText } from '../../read/small-file.ts';
import type { Roots } from '../../roots.ts';
import { ToolRunner } from './tool.ts';

const MILLIWATTS = 1000;

/** Whether the machine is a Jetson or another computer with a Tegra. */
export function isTegra(roots: Roots): boolean {
  return readText(join(roots.proc, 'device-tree/compatible'))?.includes('nvidia,tegra') ?? false;
}

/**
 * Collects the GPU of a Jetson with one `tegrastats` that runs while there are viewers.
 * @param searchPath directories with programs, as in PATH
 * @param intervalMs the interval of its readings
 */
export function openJetsonCollector(
  roots: Roots,
  searchPath: string,
  intervalMs: number,
): Collector<AgentGpu[]> {
  const name = readText(join(roots.proc, 'device-tree/model'))?.replaceAll('\0', '') ?? null;
  const runner = new ToolRunner<TegraFigures>({
    name: 'tegrastats',
    intervalMs,
    find: () => findProgram('tegrastats', searchPath),
    args: () => ['--interval', String(intervalMs)],
    parse: parseTegrastats,
  });
  return {
    collect(atMs) {
      const figures = runner.collect(atMs);
      if (figures === null) return null;
      return [{ ...present({ vendor: 'nvidia' as const, index: 0, name }), ...figures }];
    },
    idle: (atMs) => runner.idle(atMs),
    close: () => runner.close(),
  };
}

/** The figures that `tegrastats` reports. Memory is that of the machine: the GPU has none of its own. */
type TegraFigures = Omit<AgentGpu, 'vendor' | 'index' | 'name'>;

const LINE_FEED = 0x0a;

/** At most this many other lines may follow the last reading. */
const MAX_LINES = 8;

/** `RAM 3482/7620MB`: megabytes of 1,048,576 bytes. */
const MEMORY = /\bRAM (\d{1,7})\/(\d{1,7})MB\b/;

/** `GR3D_FREQ 14%`, `14%@1300`, `14%@[1300,1300]` (a clock for each cluster), `@[1300]`, by the version. */
const LOAD = /\bGR3D_FREQ (?:(\d{1,3})%)?(?:@\[?(\d{1,6}))?/;

/** `GPU@24C`, `gpu@44.2C/44.2C`. */
const TEMPERATURE = /\bGPU@(-?\d{1,3}(?:\.\d{1,3})?)C/i;

/** Rails that supply only the GPU (now/average); `VDD_GPU_SOC` and `VDD_CPU_GPU_CV` supply other units, too. */
const POWER = / (?:VDD_GPU|VDD_SYS_GPU|POM_5V_GPU|GPU) (\d{1,7})(?:mW)?\/\d/;

/**
 * Parses the newest line of the output; the text after the last line feed is incomplete.
 * @returns null when the last lines contain no reading
 */
export function parseTegrastats(bytes: Buffer): TegraFigures | null {
  let end = bytes.lastIndexOf(LINE_FEED);
  for (let line = 0; end > 0 && line < MAX_LINES; line += 1) {
    const start = bytes.lastIndexOf(LINE_FEED, end - 1) + 1;
    const reading = readLine(bytes.toString('latin1', start, end));
    if (reading !== null) return reading;
    end = start - 1;
  }
  return null;
}

function readLine(line: string): TegraFigures | null {
  const [, used, total] = MEMORY.exec(line) ?? [];
  // A GPU that is powered off exists, but has no figures.
  if (used === undefined || total === undefined || !line.includes('CPU [')) return null;
  const [, load, clock] = LOAD.exec(line) ?? [];
  const milliwatts = toNumber(POWER.exec(line)?.[1]);
  return present({
    usage_ratio: toPercentRatio(toNumber(load)),
    memory_used_bytes: toBytes(Number(used)),
    memory_total_bytes: toBytes(Number(total)),
    memory_shared: true,
    temperature_celsius: toTemperature(TEMPERATURE.exec(line)?.[1]),
    power_watts: milliwatts === null ? null : milliwatts / MILLIWATTS,
    frequency_hertz: toHertz(toNumber(clock)),
  });
}

function toNumber(word: string | undefined): number | null {
  return word === undefined ? null : Number(word);
}

/** A sensor without power reports -256. */
function toTemperature(word: string | undefined): number | null {
  const celsius = toNumber(word);
  return celsius !== null && celsius > -256 ? celsius : null;
}
