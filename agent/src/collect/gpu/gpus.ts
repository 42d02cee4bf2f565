import type { AgentGpu } from '@latchkey/contract';

import type { Collector } from '../../collector.ts';
import type { BackgroundReader } from '../../read/background-reader.ts';
import type { Roots } from '../../roots.ts';
import { openDrmCollector } from './drm.ts';
import { isTegra, openJetsonCollector } from './jetson.ts';
import { openNvidiaCollector } from './nvidia.ts';

interface GpuOptions {
  /** Directories to search for `nvidia-smi` and `tegrastats`; default: PATH and the usual ones, also of WSL and NixOS. */
  readonly searchPath?: string;
  /** The interval of their readings; default: one second. */
  readonly intervalMs?: number;
  /** Receives the directories of the cards that other collectors must not read. */
  readonly pausedDevices?: Set<string>;
}

/** Services are often started without a PATH, or with a short one. */
const USUAL_PATH = '/usr/local/bin:/usr/bin:/bin:/usr/lib/wsl/lib:/run/current-system/sw/bin';

/** Collects all GPUs: NVIDIA's with its program, AMD's and Intel's from /sys. */
export function openGpusCollector(
  roots: Roots,
  reader: BackgroundReader,
  options: GpuOptions = {},
): Collector<AgentGpu[]> {
  const {
    searchPath = `${process.env['PATH'] ?? ''}:${USUAL_PATH}`,
    intervalMs = 1000,
    pausedDevices = new Set<string>(),
  } = options;
  const openNvidia = isTegra(roots) ? openJetsonCollector : openNvidiaCollector;
  const makers = [
    openNvidia(roots, searchPath, intervalMs),
    openDrmCollector(roots, reader, intervalMs, pausedDevices),
  ];
  let problem: string | null = null;
  return {
    collect(atMs) {
      const problems: Error[] = [];
      const gpus = makers.flatMap((maker) => collectFrom(maker, atMs, problems));
      const [first] = problems;
      // A problem with one maker's cards must not hide the others.
      if (gpus.length === 0 && first !== undefined) throw first;
      problem = first?.message ?? problem;
      return gpus.length === 0 ? null : gpus;
    },
    takeProblem() {
      const taken = problem;
      problem = null;
      return taken;
    },
    idle: (atMs) => makers.forEach((maker) => maker.idle?.(atMs)),
    close: () => makers.forEach((maker) => maker.close?.()),
  };
}

function collectFrom(maker: Collector<AgentGpu[]>, atMs: number, problems: Error[]): AgentGpu[] {
  try {
    return maker.collect(atMs) ?? [];
  } catch (error) {
    problems.push(error instanceof Error ? error : new Error(String(error)));
    return [];
  }
}
