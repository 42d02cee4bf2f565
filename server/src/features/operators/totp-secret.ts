import type { PoolClient } from 'pg';

import type { Vault } from '#server/lib/vault.ts';

import { lockTotpSecrets, replaceTotpSeal } from './queries/second-factors.ts';

/** The record that the sealed secret of one-time codes belongs to. */
function labelOf(operatorId: string): string {
  return `operator_totp:${operatorId}`;
}

/** Seals the secret of one-time codes of an operator. */
export function sealTotpSecret(vault: Vault, operatorId: string, secret: string): Buffer {
  return vault.seal(secret, labelOf(operatorId));
}

/**
 * Opens the secret of one-time codes of an operator; null without one.
 * @throws {Error} when it was sealed under another master secret; `latchkey operator reset` removes it
 */
export function openTotpSecret(
  vault: Vault,
  { id, totpSealed }: { readonly id: string; readonly totpSealed: Buffer | null },
): string | null {
  return totpSealed === null ? null : vault.open(totpSealed, labelOf(id));
}

/** Seals all secrets of one-time codes under the current master secret; returns how many it rewrote, and how many do not open. */
export async function resealTotpSecrets(
  client: PoolClient,
  vault: Vault,
): Promise<{ readonly rewritten: number; readonly failed: number }> {
  const result = { rewritten: 0, failed: 0 };
  for (const operator of await lockTotpSecrets(client)) {
    if (vault.isCurrent(operator.totpSealed)) continue;
    try {
      const secret = openTotpSecret(vault, operator) ?? '';
      await replaceTotpSeal(client, operator.id, sealTotpSecret(vault, operator.id, secret));
      result.rewritten += 1;
    } catch {
      // Sealed under a secret that is not configured; `operator reset` removes it.
      result.failed += 1;
    }
  }
  return result;
}
