import type { HeartbeatRequest, HeartbeatResponse } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import type { Context } from '#server/context.ts';
import { Batcher, type BatchObserver, type BatchQueue } from '#server/db/batching/batcher.ts';
import { isDatabaseUnresponsive } from '#server/db/database-errors.ts';
import { cutText } from '#server/lib/cut-text.ts';

import { requireIdentity } from '../licenses/read-machine.ts';
import { toMachineKey, rewriteUsage } from './machine-key.ts';
import { upsertUsageDays, type Beats } from './queries.ts';

const MAX_APP_VERSION_CHARACTERS = 64;
const MAX_OS_VERSION_CHARACTERS = 128;

/**
 * Records that a machine uses the application today, by our clock in UTC; durably before the answer. Versions that are not
 * told are read from the fingerprint, and where that tells none, the known ones stay.
 * @throws InvalidRequestError (422) for a fingerprint that is empty or passes its limits
 */
export async function recordHeartbeat(
  ctx: Context,
  request: HeartbeatRequest,
): Promise<HeartbeatResponse> {
  const machine = requireIdentity(request.machine_fingerprint);
  if (ctx.vault.previous.length > 0) {
    await ctx.databaseLimiter.run(() => rewriteUsage(ctx, [request.machine_id]));
  }
  const message = await ctx.batches.heartbeats.submit({
    machineKey: toMachineKey(ctx.vault, request.machine_id),
    appVersion: cut(request.app_version || machine.appVersion, MAX_APP_VERSION_CHARACTERS),
    osVersion: cut(request.os_version || machine.osVersion, MAX_OS_VERSION_CHARACTERS),
  });
  return { success: true, message };
}

function cut(text: string | null, length: number): string | null {
  return text === null ? null : cutText(text, length);
}

/** One heartbeat. */
export type Heartbeat = Omit<Beats, 'count'>;

/** Whether a heartbeat is the first of its machine on its day. */
export type HeartbeatOutcome = 'created' | 'updated';

/** Carries heartbeats to the database. */
export type HeartbeatBatch = BatchQueue<Heartbeat, HeartbeatOutcome>;

const MAX_BATCH_SIZE = 256;

/** At 10,000 calls a second this many wait for less than a second. */
const MAX_QUEUE_LENGTH = 8_192;

/** Makes the batch in which heartbeats travel. */
export function createHeartbeatBatch(
  ctx: { readonly pool: Pool; readonly clock: Clock },
  observer: BatchObserver,
): HeartbeatBatch {
  return new Batcher({
    name: 'heartbeats',
    observer,
    maxBatchSize: MAX_BATCH_SIZE,
    maxQueueLength: MAX_QUEUE_LENGTH,
    rowOf: ({ machineKey }) => machineKey,
    isUnresponsive: (error) => isDatabaseUnresponsive(ctx.pool, error),
    execute: (heartbeats) => recordHeartbeats(ctx, heartbeats),
  });
}

async function recordHeartbeats(
  { pool, clock }: { readonly pool: Pool; readonly clock: Clock },
  heartbeats: readonly Heartbeat[],
): Promise<readonly HeartbeatOutcome[]> {
  const merged = mergeByMachine(heartbeats);
  const totals = await upsertUsageDays(pool, [...merged.values()], clock.now());
  const isNew = new Set(
    [...merged.values()].flatMap(({ machineKey, count }) =>
      totals.get(machineKey) === count ? [machineKey] : [],
    ),
  );
  // Of several of a machine the first is the one that created the day.
  return heartbeats.map(({ machineKey }) => (isNew.delete(machineKey) ? 'created' : 'updated'));
}

/** Of several heartbeats of a machine, what the later one tells counts. */
function mergeByMachine(heartbeats: readonly Heartbeat[]): ReadonlyMap<string, Beats> {
  const merged = new Map<string, Beats>();
  for (const { machineKey, appVersion, osVersion } of heartbeats) {
    const earlier = merged.get(machineKey);
    merged.set(machineKey, {
      machineKey,
      count: (earlier?.count ?? 0) + 1,
      appVersion: appVersion ?? earlier?.appVersion ?? null,
      osVersion: osVersion ?? earlier?.osVersion ?? null,
    });
  }
  return merged;
}
