import type { HeartbeatRequest, HeartbeatResponse } from '@latchkey/contract';

import type { Context } from '#server/context.ts';
import { cutText } from '#server/lib/cut-text.ts';

import { requireIdentity } from '../licenses/read-machine.ts';
import { toMachineKey } from './machine-key.ts';
import { rewriteUsage } from './move-machines.ts';

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
