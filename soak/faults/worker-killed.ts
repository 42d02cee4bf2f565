import { signalProcess } from '#server/db/embedded/processes.ts';

import { listWorkers } from '../service/processes.ts';
import type { Fault } from './fault.ts';

export const workerKilled: Fault = {
  name: 'worker killed',
  effect: 'Kills one worker of the service with SIGKILL. The service replaces it.',
  allowed: ['no answer'],
  recoveryMs: 20_000,
  repeatsJobs: true,
  async findObstacle({ service, workers }) {
    if (workers === null) return 'the service runs without workers (--workers)';
    const running = service.pid === null ? [] : await listWorkers(service.pid);
    return running.length > 0 ? null : 'the service has no worker processes';
  },
  async cause({ service }) {
    const [worker] = service.pid === null ? [] : await listWorkers(service.pid);
    if (worker === undefined) throw new Error('no worker runs');
    signalProcess(worker, 'SIGKILL');
  },
};
