import { join } from 'node:path';

import type { AgentUnits } from '@latchkey/contract';

import { type Collector, every } from '../collector.ts';
import { listFailedUnits } from '../dbus/list-failed-units.ts';
import type { Roots } from '../roots.ts';

const INTERVAL_MS = 30_000;

/** Units of systemd that failed; null where there is no systemd, and until it has answered. */
export function openUnitsCollector(
  roots: Roots,
  askUnits: typeof listFailedUnits = listFailedUnits,
): Collector<AgentUnits> {
  const socketPath = join(roots.run, 'dbus/system_bus_socket');
  const isDue = every(INTERVAL_MS);
  let isAsking = false;
  let failed: string[] | null = null;
  let problem: unknown = null;

  async function ask(): Promise<void> {
    isAsking = true;
    try {
      failed = await askUnits(socketPath);
    } catch (error) {
      failed = null;
      problem = error;
    } finally {
      isAsking = false;
    }
  }

  return {
    collect(atMs) {
      if (isDue(atMs) && !isAsking) void ask();
      if (problem !== null) {
        // Told once, by whoever logs what a collector throws.
        const told = problem;
        problem = null;
        throw told;
      }
      return failed === null ? null : { failed };
    },
  };
}
