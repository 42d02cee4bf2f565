import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import type { KeyChange } from './create.ts';
import { noSuchApiKey } from './key-refusal.ts';
import { lockApiKeys, revokeApiKeys, type ApiKeyRecord } from './queries.ts';

/** Which keys are to be revoked. */
export interface ApiKeyRevocation extends KeyChange {
  /** The id of one key; or a name, for every key that goes or went by it and still opens something. */
  readonly idOrName: string;
}

/**
 * Ends API keys at once and for good, and leaves an audit row for each. A name takes along the keys that were rolled and
 * are in their overlap: whoever revokes a name expects nothing of it to work.
 * @throws ApiKeyRefusal when there is nothing to revoke
 */
export async function revokeApiKey(
  ctx: Context,
  revocation: ApiKeyRevocation,
): Promise<ApiKeyRecord[]> {
  const { idOrName, actor, reason } = revocation;
  return inTransaction(ctx.pool, async (client) => {
    // A roll of the same name is over or has not begun: its new key must not slip through.
    await lockApiKeys(client);
    const now = ctx.clock.now();
    const revoked = await revokeApiKeys(client, idOrName, now);
    if (revoked.length === 0) throw noSuchApiKey();
    for (const { id, name, keyHint } of revoked) {
      await insertAuditEntry(client, {
        actor,
        reason,
        occurredAt: now,
        action: 'api_key.revoke',
        subjectId: id,
        details: { name, key_hint: keyHint },
      });
    }
    return revoked;
  });
}
