import type { Vault } from '#server/lib/vault.ts';

import type { EndpointRecord } from './queries/endpoints.ts';

type SealedSecrets = Pick<
  EndpointRecord,
  'id' | 'secretSealed' | 'previousSecretSealed' | 'previousSecretUntil'
>;

/** Seals the signing secret of an endpoint, for this endpoint alone. */
export function sealSecret(vault: Vault, endpointId: string, secret: string): Buffer {
  return vault.seal(secret, labelOf(endpointId));
}

/**
 * The secrets that an endpoint's messages are signed with now, the newest first; two while it is being rolled.
 * @throws Error when they were sealed under another master secret
 */
export function openSecrets(vault: Vault, endpoint: SealedSecrets, now: Date): string[] {
  const { id, secretSealed, previousSecretSealed, previousSecretUntil } = endpoint;
  const isRolling = previousSecretUntil !== null && previousSecretUntil > now;
  const sealed =
    isRolling && previousSecretSealed !== null
      ? [secretSealed, previousSecretSealed]
      : [secretSealed];
  return sealed.map((each) => vault.open(each, labelOf(id)));
}

function labelOf(endpointId: string): string {
  return `webhook-endpoint:${endpointId}`;
}
