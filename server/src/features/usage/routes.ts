import { HeartbeatRequest, HeartbeatResponse, ref } from '@latchkey/contract';

import type { Context } from '#server/context.ts';
import type { App } from '#server/http/app-instance.ts';

import { recordHeartbeat } from './record-heartbeat.ts';

/** Daily use of the application, per machine. */
export function registerUsageRoutes(app: App, ctx: Context): void {
  app.post(
    '/api/v1/usage/heartbeat',
    {
      schema: {
        operationId: 'recordHeartbeat',
        tags: ['usage'],
        summary: 'Record that a machine uses the application today',
        body: ref(HeartbeatRequest),
        response: { 200: ref(HeartbeatResponse, 'The day is recorded.') },
      },
    },
    (request) => recordHeartbeat(ctx, request.body),
  );
}
