import { MESSAGE_NOT_SENT, MESSAGE_UNKNOWN } from '../load/operations.ts';
import { needsLinux, once, type Fault } from './fault.ts';

export const serviceKilled: Fault = {
  name: 'service killed',
  effect: 'Kills the service with SIGKILL and starts it again. Its database ends with it.',
  allowed: [
    'no answer',
    '503 starting',
    '503 database_unavailable',
    MESSAGE_NOT_SENT,
    MESSAGE_UNKNOWN,
  ],
  recoveryMs: 60_000,
  countInterruptions: once,
  findObstacle: needsLinux,
  cause: ({ service }) => service.kill(),
  repair: ({ service }) => service.start(),
};
