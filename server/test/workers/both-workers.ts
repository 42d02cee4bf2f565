import type { ServiceProcess } from '../service-process.ts';

/** Waits until both of two workers serve requests: the service reports its URL when the first one does. */
export async function waitForBothWorkers(service: ServiceProcess): Promise<void> {
  for (const number of [1, 2]) {
    await service.waitForLine(new RegExp(`"worker\\.started","worker":${number},`, 'u'));
  }
}
