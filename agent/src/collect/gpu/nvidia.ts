import { join } from 'node:path';

import type { AgentGpu } from '@latchkey/contract';

import { type Collector, throttle } from '../../collector.ts';
import {
  NVIDIA_FIELDS,
  type NvidiaField,
  findUnknownField,
  parseNvidiaSmi,
} from '../../parse/nvidia-smi.ts';
import { listPresent, present } from '../../metric-values.ts';
import { canSleep, isAsleep, SleepPause } from './power.ts';
import { findProgram, listDirectory, readText } from '../../read/small-file.ts';
import type { Roots } from '../../roots.ts';
import { FRESH_INTERVALS, ToolRunner } from './tool.ts';

const LOOK_INTERVAL_MS = 10_000;

/**
 * Collects NVIDIA's cards with one `nvidia-smi` that runs while there are viewers. While all cards sleep, it is stopped, because
 * it would wake them.
 * @param searchPath directories with programs, as in PATH
 * @param intervalMs the interval of its readings
 */
export function openNvidiaCollector(
  roots: Roots,
  searchPath: string,
  intervalMs: number,
): Collector<AgentGpu[]> {
  const cards = throttle(LOOK_INTERVAL_MS, { collect: () => listCards(roots) });
  const runner = new ToolRunner({
    ...describeTool(intervalMs),
    find: () => (hasDriver(roots) ? findProgram('nvidia-smi', searchPath) : null),
  });
  const pause = new SleepPause();
  let last: AgentGpu[] | null = null;
  let lastAtMs = Number.NEGATIVE_INFINITY;

  function read(directories: readonly string[], atMs: number): AgentGpu[] | null {
    [last, lastAtMs] = [runner.collect(atMs), atMs];
    const isWithoutWork = directories.length > 0 && directories.every(canSleep) && isIdle(last);
    pause.update(isWithoutWork, atMs);
    if (pause.isPaused(atMs)) runner.pause();
    return last;
  }

  function repeat(atMs: number): AgentGpu[] | null {
    const isFresh = atMs - lastAtMs <= FRESH_INTERVALS * intervalMs;
    return isFresh ? last : (last?.map(identify) ?? null);
  }

  return {
    collect(atMs) {
      const directories = cards.collect(atMs) ?? [];
      const sleeping = directories.length > 0 && directories.every(isAsleep);
      if (!sleeping) return pause.isPaused(atMs) ? repeat(atMs) : read(directories, atMs);
      pause.reset();
      runner.pause();
      return directories.map((directory, index) => describeSleeping(directory, index, last));
    },
    idle: (atMs) => runner.idle(atMs),
    close: () => runner.close(),
  };
}

function describeTool(intervalMs: number) {
  let fields: readonly NvidiaField[] = NVIDIA_FIELDS;
  return {
    name: 'nvidia-smi',
    intervalMs,
    args: () => [
      `--query-gpu=${fields.join(',')}`,
      '--format=csv,noheader,nounits',
      '-lms',
      String(intervalMs),
    ],
    parse: (output: Buffer) => listPresent(parseNvidiaSmi(output, fields)),
    /** Drops a field that this version does not know. */
    adaptTo(message: string): boolean {
      const unknown = findUnknownField(message);
      const known = fields.filter((field) => field !== unknown);
      if (known.length === fields.length) return false;
      fields = known;
      return true;
    },
  };
}

/** Whether a driver is loaded; under Windows (WSL) and in containers there is no PCI. */
function hasDriver(roots: Roots): boolean {
  return [
    [roots.proc, 'driver/nvidia'],
    [roots.sys, 'bus/pci/drivers/nvidia'],
    [roots.sys, 'class/misc/dxg'],
  ].some(([root = '', path = '']) => listDirectory(join(root, path)).length > 0);
}

/** Lists the directories of the cards, by address. */
function listCards(roots: Roots): string[] {
  const directory = join(roots.sys, 'bus/pci/drivers/nvidia');
  return listDirectory(directory)
    .filter((name) => /^[\da-f]{4,8}:[\da-f]{2}:[\da-f]{2}\.\d$/.test(name))
    .sort()
    .map((name) => join(directory, name));
}

function isIdle(gpus: readonly AgentGpu[] | null): boolean {
  return gpus !== null && gpus.every(({ usage_ratio }) => usage_ratio === 0);
}

function describeSleeping(
  directory: string,
  index: number,
  last: readonly AgentGpu[] | null,
): AgentGpu {
  const address = /PCI_SLOT_NAME=(\S+)/.exec(readText(join(directory, 'uevent')) ?? '')?.[1];
  const known = last?.find(({ pci_address }) => pci_address === address);
  const facts = { vendor: 'nvidia' as const, index, pci_address: address ?? null };
  return { ...(known === undefined ? present(facts) : identify(known)), asleep: true };
}

/** Returns the constant fields of a card. */
function identify({ vendor, index, name, uuid, pci_address }: AgentGpu): AgentGpu {
  const [named, numbered, placed] = [name ?? null, uuid ?? null, pci_address ?? null];
  return present({ vendor, index, name: named, uuid: numbered, pci_address: placed });
}
