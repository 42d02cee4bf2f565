/** Faults of connections: between clients and the service, and between the service and its database. */
import { setTimeout as sleep } from 'node:timers/promises';

import { defineCommand, execute } from '#server/db/statement.ts';

import { CUT_PHASES } from '../load/http-connection.ts';
import { CUT, MESSAGE_NOT_SENT, MESSAGE_UNKNOWN } from '../load/operations.ts';
import { noObstacle, type Fault, type FaultTarget } from './fault.ts';

export const clientsCut: Fault = {
  name: 'clients cut',
  effect:
    'Cuts every fourth connection of a client: within the head, within the body, before the answer, and within the answer, one after the other.',
  allowed: [CUT],
  // A connection that is cut within the answer ends when that arrives.
  recoveryMs: 5_000,
  findObstacle: noObstacle,
  async cause({ client, holdMs }) {
    try {
      for (const phase of CUT_PHASES) {
        client.cutPhase = phase;
        await sleep(holdMs / 2);
      }
    } finally {
      client.cutPhase = null;
    }
  },
};

const PAUSE_MS = 250;

const terminate = defineCommand(
  'soak_terminate_connections',
  `select pg_terminate_backend(pid) from pg_stat_activity
   where backend_type = 'client backend' and pid <> pg_backend_pid()`,
);

export const databaseConnectionsCut: Fault = {
  name: 'database connections cut',
  effect:
    'Ends every connection of the service to PostgreSQL four times a second, whatever runs on it.',
  allowed: ['503 database_unavailable', MESSAGE_NOT_SENT, MESSAGE_UNKNOWN],
  recoveryMs: 10_000,
  countInterruptions: ({ holdMs }) => Math.ceil(holdMs / PAUSE_MS),
  findObstacle: noObstacle,
  async cause({ holdMs, pool }: FaultTarget) {
    for (let ms = 0; ms < holdMs; ms += PAUSE_MS) {
      await execute(pool, terminate, []);
      await sleep(PAUSE_MS);
    }
  },
};
