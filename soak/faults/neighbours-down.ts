import { setTimeout as sleep } from 'node:timers/promises';

import { MESSAGE_NOT_SENT, MESSAGE_UNKNOWN } from '../load/operations.ts';
import { noObstacle, once, type Fault } from './fault.ts';

export const neighboursDown: Fault = {
  name: 'relay and provider down',
  effect:
    'Stops the mail relay and the API of the payment provider, cutting their connections, and starts them again.',
  allowed: [MESSAGE_NOT_SENT, MESSAGE_UNKNOWN],
  recoveryMs: 5_000,
  countInterruptions: once,
  findObstacle: noObstacle,
  async cause({ holdMs, provider, relay }) {
    await Promise.all([relay.stop(), provider.stop()]);
    try {
      await sleep(holdMs);
    } finally {
      await Promise.all([relay.start(), provider.start()]);
    }
  },
};
