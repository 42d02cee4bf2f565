import { needsLinux, type Fault } from './fault.ts';

export const serviceKilled: Fault = {
  name: 'service killed',
  effect: 'Kills the service with SIGKILL and starts it again. Its database ends with it.',
  allowed: ['no answer', '503 starting', '503 database_unavailable'],
  recoveryMs: 60_000,
  repeatsJobs: true,
  findObstacle: needsLinux,
  cause: ({ service }) => service.kill(),
  repair: ({ service }) => service.start(),
};
