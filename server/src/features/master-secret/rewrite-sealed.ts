import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { openSigningKeys, sealSigningKey } from '../entitlements/open-signing-key.ts';
import {
  listSigningKeys,
  lockSigningKeys,
  replaceSigningKeySeal,
} from '../entitlements/queries.ts';
import { MAX_ENDPOINTS } from '../outgoing-webhooks/add-endpoint.ts';
import {
  listEndpointRecords,
  lockEndpoints,
  updateEndpoint,
} from '../outgoing-webhooks/queries/endpoints.ts';
import { resealSecrets } from '../outgoing-webhooks/secrets.ts';
import type { RewriteResult } from './rewrite-licenses.ts';

type RewriteContext = Pick<Context, 'clock' | 'pool' | 'vault'>;

/** Seals the signing keys of entitlements under the current master secret. */
export async function rewriteSigningKeys({ pool, vault }: RewriteContext): Promise<RewriteResult> {
  return inTransaction(pool, async (client) => {
    await lockSigningKeys(client);
    const { opened, rejected } = openSigningKeys(vault, await listSigningKeys(client));
    const outdated = opened.filter(({ record }) => !vault.isCurrent(record.privateKeySealed));
    for (const { record, key } of outdated) {
      await replaceSigningKeySeal(client, sealSigningKey(vault, key, record));
    }
    return { rewritten: outdated.length, failed: rejected.length };
  });
}

/** Seals the signing secrets of webhook endpoints under the current master secret. */
export async function rewriteEndpoints(ctx: RewriteContext): Promise<RewriteResult> {
  const now = ctx.clock.now();
  return inTransaction(ctx.pool, async (client) => {
    await lockEndpoints(client);
    const result = { rewritten: 0, failed: 0 };
    for (const endpoint of await listEndpointRecords(client, MAX_ENDPOINTS)) {
      try {
        const resealed = resealSecrets(ctx.vault, endpoint, now);
        if (resealed === null) continue;
        await updateEndpoint(client, { ...endpoint, ...resealed });
        result.rewritten += 1;
      } catch {
        // Sealed under a secret that is not configured: `endpoint roll` replaces it.
        result.failed += 1;
      }
    }
    return result;
  });
}
