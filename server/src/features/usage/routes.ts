import { HeartbeatRequest, HeartbeatResponse, ref } from '@latchkey/contract';

import type { Context } from '#server/context.ts';
import type { App } from '#server/http/app-instance.ts';
import { limitStorage } from '#server/http/limit-storage.ts';

import { recordHeartbeat } from './record-heartbeat.ts';

/** A row of a machine's day, with its index entries. */
const DAY_BYTES = 400;

/** Daily use of the application, per machine. */
export function registerUsageRoutes(app: App, ctx: Context): void {
  app.post(
    '/api/v1/usage/heartbeat',
    {
      onRequest: limitStoredDays(ctx),
      schema: {
        operationId: 'recordHeartbeat',
        tags: ['usage'],
        summary: 'Record that a machine uses the application today',
        body: ref(HeartbeatRequest),
        response: { 200: ref(HeartbeatResponse, 'The day is recorded.') },
        problems: ['rate_limited', 'storage_low'],
      },
    },
    ({ body, clientNetwork }) => recordAndCharge(ctx, body, clientNetwork),
  );
}

async function recordAndCharge(
  ctx: Context,
  body: HeartbeatRequest,
  network: string,
): Promise<HeartbeatResponse> {
  const response = await recordHeartbeat(ctx, body);
  const bytes = response.message === 'created' ? DAY_BYTES : 0;
  ctx.storage.quota.charge(network, bytes, ctx.clock.now().getTime());
  return response;
}

function limitStoredDays({ clock, metrics, storage: limits }: Context) {
  const onRefusal = (code: string): void => metrics.countRefusal('heartbeat', code);
  return limitStorage({ limits, clock, needsDisk: true, onRefusal });
}
