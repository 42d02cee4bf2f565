/** Feature: heartbeats of machines, stored as one row per machine and day. */
import { HeartbeatRequest, HeartbeatResponse, ref } from '@latchkey/contract';

import type { App } from '#server/http/app-instance.ts';
import { limitStorage, type StorageLimits } from '#server/http/limit-rate.ts';

import { recordHeartbeat, type HeartbeatDependencies } from './record-heartbeat.ts';

/** The size of the largest rows of a machine's day, with their index entries: 192 characters of versions take 768 bytes. */
const DAY_BYTES = 1_000;

interface UsageRouteDependencies extends HeartbeatDependencies {
  readonly clock: { now(): Date };
  readonly metrics: { countRefusal(operation: string, reason: string): void };
  readonly storage: StorageLimits;
}

export function registerUsageRoutes(app: App, deps: UsageRouteDependencies): void {
  const { clock, metrics, storage } = deps;
  const onRefusal = (code: string): void => metrics.countRefusal('heartbeat', code);
  app.post(
    '/api/v1/usage/heartbeat',
    {
      onRequest: limitStorage({ limits: storage, clock, needsDisk: true, onRefusal }),
      schema: {
        operationId: 'recordHeartbeat',
        tags: ['usage'],
        summary: 'Record that a machine uses the application today',
        body: ref(HeartbeatRequest),
        response: { 200: ref(HeartbeatResponse, 'The day is recorded.') },
        problems: ['rate_limited', 'storage_low'],
      },
    },
    async ({ body, clientNetwork }) => {
      const response = await recordHeartbeat(deps, body);
      const bytes = response.message === 'created' ? DAY_BYTES : 0;
      storage.quota.charge(clientNetwork, bytes, clock.now().getTime());
      return response;
    },
  );
}
