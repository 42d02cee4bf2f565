import { isUuid } from '@latchkey/contract';

import type { Context } from '#server/context.ts';

import { hashUnderAllSecrets } from './hash-license-key.ts';
import { findLicenseIdByKey } from './queries/license-keys.ts';

/**
 * The id of the license that an operator names by its key or its id; null when no license has that key. An imported key
 * that looks like a UUID is found as a key first.
 */
export async function resolveLicenseId(ctx: Context, keyOrId: string): Promise<string | null> {
  const keyHashes = hashUnderAllSecrets(ctx, keyOrId);
  const id = keyHashes.length === 0 ? null : await findLicenseIdByKey(ctx.pool, keyHashes);
  if (id !== null) return id;
  return isUuid(keyOrId.trim()) ? keyOrId.trim().toLowerCase() : null;
}
