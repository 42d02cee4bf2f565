import type { HeartbeatRequest, HeartbeatResponse } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { Batcher, type BatchObserver, type BatchQueue } from '#server/db/batching/batcher.ts';
import { isDatabaseUnresponsive } from '#server/db/database-errors.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';
import { cutText } from '#server/lib/text.ts';

import { requireIdentity } from '../licenses/read-machine.ts';
import { rewriteUsage, toMachineKey, type UsageDependencies } from './machine-key.ts';
import { upsertUsageDays, type MachineHeartbeats } from './queries.ts';

const MAX_APP_VERSION_CHARACTERS = 64;
const MAX_OS_VERSION_CHARACTERS = 128;

export interface HeartbeatDependencies extends UsageDependencies {
  readonly batches: { readonly heartbeats: HeartbeatQueue };
  readonly databaseLimiter: ConcurrencyLimiter;
}

/**
 * Records that a machine uses the application today (UTC, by the service's clock), durably before the response. A version
 * that the request lacks is read from the fingerprint; if that lacks it too, the stored version remains.
 * @throws InvalidRequestError (422) for a fingerprint that is empty or exceeds its limits
 */
export async function recordHeartbeat(
  deps: HeartbeatDependencies,
  request: HeartbeatRequest,
): Promise<HeartbeatResponse> {
  const { batches, databaseLimiter, vault } = deps;
  const machine = requireIdentity(request.machine_fingerprint);
  if (vault.previous.length > 0) {
    await databaseLimiter.run(() => rewriteUsage(deps, [request.machine_id]));
  }
  const message = await batches.heartbeats.submit({
    machineKey: toMachineKey(vault, request.machine_id),
    appVersion: cut(request.app_version || machine.appVersion, MAX_APP_VERSION_CHARACTERS),
    osVersion: cut(request.os_version || machine.osVersion, MAX_OS_VERSION_CHARACTERS),
  });
  return { success: true, message };
}

function cut(text: string | null, length: number): string | null {
  return text === null ? null : cutText(text, length);
}

type Heartbeat = Omit<MachineHeartbeats, 'count'>;

/** `created`: the first heartbeat of the machine on this day. */
type HeartbeatOutcome = 'created' | 'updated';

/** Stores heartbeats in batches. */
export type HeartbeatQueue = BatchQueue<Heartbeat, HeartbeatOutcome>;

const MAX_BATCH_SIZE = 256;

/** At 10,000 requests a second these wait for less than a second. */
const MAX_QUEUE_LENGTH = 8_192;

interface StoreDependencies {
  readonly pool: Pool;
  readonly clock: Clock;
}

export function createHeartbeatQueue(
  deps: StoreDependencies,
  observer: BatchObserver,
): HeartbeatQueue {
  return new Batcher({
    name: 'heartbeats',
    observer,
    maxBatchSize: MAX_BATCH_SIZE,
    maxQueueLength: MAX_QUEUE_LENGTH,
    rowOf: ({ machineKey }) => machineKey,
    isUnresponsive: (error) => isDatabaseUnresponsive(deps.pool, error),
    execute: (heartbeats) => storeHeartbeats(deps, heartbeats),
  });
}

async function storeHeartbeats(
  { pool, clock }: StoreDependencies,
  heartbeats: readonly Heartbeat[],
): Promise<readonly HeartbeatOutcome[]> {
  const merged = mergeByMachine(heartbeats);
  const totals = await upsertUsageDays(pool, [...merged.values()], clock.now());
  const isNew = new Set(
    [...merged.values()].flatMap(({ machineKey, count }) =>
      totals.get(machineKey) === count ? [machineKey] : [],
    ),
  );
  // Only the first of several heartbeats of a machine created the day.
  return heartbeats.map(({ machineKey }) => (isNew.delete(machineKey) ? 'created' : 'updated'));
}

/** Of several heartbeats of a machine, the last version counts. */
function mergeByMachine(heartbeats: readonly Heartbeat[]): ReadonlyMap<string, MachineHeartbeats> {
  const merged = new Map<string, MachineHeartbeats>();
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
