import type { AgentGpu } from '@latchkey/contract';

import type { Collector } from '../../collector.ts';
import type { BackgroundReader } from '../../read/background-reader.ts';
import type { Roots } from '../../roots.ts';
import { openDrmCollector } from './drm.ts';
import { isTegra, openJetsonCollector } from './jetson.ts';
import { openNvidiaCollector } from './nvidia.ts';

interface GpuOptions {
  /** Where `nvidia-smi` and `tegrastats` lie; without it, as in PATH, and where Windows and NixOS keep them. */
  readonly searchPath?: string;
  /** How often they are to say something; without it, every second. */
  readonly intervalMs?: number;
  /** Gets the directories of the cards that nobody else is to ask for a while, either. */
  readonly leftAlone?: Set<string>;
}

/** Services are often started without a PATH, or with a short one. */
const USUAL_PATH = '/usr/local/bin:/usr/bin:/bin:/usr/lib/wsl/lib:/run/current-system/sw/bin';

/** All GPUs: NVIDIA's by its program, AMD's and Intel's by what their drivers say in /sys. */
export function openGpusCollector(
  roots: Roots,
  reader: BackgroundReader,
  options: GpuOptions = {},
): Collector<AgentGpu[]> {
  const {
    searchPath = `${process.env['PATH'] ?? ''}:${USUAL_PATH}`,
    intervalMs = 1000,
    leftAlone = new Set<string>(),
  } = options;
  const openNvidia = isTegra(roots) ? openJetsonCollector : openNvidiaCollector;
  const makers = [
    openNvidia(roots, searchPath, intervalMs),
    openDrmCollector(roots, reader, intervalMs, leftAlone),
  ];
  let problem: string | null = null;
  return {
    collect(atMs) {
      const problems: Error[] = [];
      const gpus = makers.flatMap((maker) => collectFrom(maker, atMs, problems));
      const [first] = problems;
      // Trouble with one maker's cards must not cost the others'.
      if (gpus.length === 0 && first !== undefined) throw first;
      problem = first?.message ?? problem;
      return gpus.length === 0 ? null : gpus;
    },
    takeProblem() {
      const taken = problem;
      problem = null;
      return taken;
    },
    rest: (atMs) => makers.forEach((maker) => maker.rest?.(atMs)),
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
