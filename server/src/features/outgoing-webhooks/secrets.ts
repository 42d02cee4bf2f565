import type { Vault } from '#server/lib/vault.ts';

import type { EndpointRecord } from './queries/endpoints.ts';

type SealedSecrets = Pick<
  EndpointRecord,
  'id' | 'secretSealed' | 'previousSecretSealed' | 'previousSecretUntil'
>;

/** Seals the signing secret of an endpoint; it cannot be opened for another endpoint. */
export function sealSecret(vault: Vault, endpointId: string, secret: string): Buffer {
  return vault.seal(secret, labelOf(endpointId));
}

/** Seals the previous secret together with its expiry, so that it cannot be used as the current one. */
export function sealPreviousSecret(
  vault: Vault,
  endpointId: string,
  secret: string,
  until: Date,
): Buffer {
  return vault.seal(secret, previousLabelOf(endpointId, until));
}

/**
 * Opens the current signing secrets of an endpoint, newest first: two during a roll.
 * @throws Error if they were sealed under another master secret, or for another endpoint, purpose or expiry
 */
export function openSecrets(vault: Vault, endpoint: SealedSecrets, now: Date): string[] {
  const { id, secretSealed, previousSecretSealed: previous, previousSecretUntil: until } = endpoint;
  const current = vault.open(secretSealed, labelOf(id));
  const isRolling = until !== null && until > now;
  if (!isRolling || previous === null) return [current];
  return [current, vault.open(previous, previousLabelOf(id, until))];
}

/**
 * Seals the secrets of an endpoint under the current master secret; null if they already are. An expired previous secret
 * is dropped.
 * @throws Error if they cannot be opened
 */
export function resealSecrets(
  vault: Vault,
  endpoint: SealedSecrets,
  now: Date,
): Omit<SealedSecrets, 'id'> | null {
  const { id, secretSealed, previousSecretSealed, previousSecretUntil: until } = endpoint;
  const sealed =
    previousSecretSealed === null ? [secretSealed] : [secretSealed, previousSecretSealed];
  if (sealed.every((each) => vault.isCurrent(each))) return null;
  const [current = '', previous] = openSecrets(vault, endpoint, now);
  const isRolling = previous !== undefined && until !== null;
  return {
    secretSealed: sealSecret(vault, id, current),
    previousSecretSealed: isRolling ? sealPreviousSecret(vault, id, previous, until) : null,
    previousSecretUntil: isRolling ? until : null,
  };
}

function labelOf(endpointId: string): string {
  return `webhook-endpoint:${endpointId}`;
}

function previousLabelOf(endpointId: string, until: Date): string {
  return `${labelOf(endpointId)} until ${until.toISOString()}`;
}
