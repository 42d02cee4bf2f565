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

/** Seals the secret that was replaced together with its end, so that it cannot become the current one again. */
export function sealPreviousSecret(
  vault: Vault,
  endpointId: string,
  secret: string,
  until: Date,
): Buffer {
  return vault.seal(secret, previousLabelOf(endpointId, until));
}

/**
 * The secrets that an endpoint's messages are signed with now, the newest first; two while it is being rolled.
 * @throws Error when they were sealed under another master secret, or for another endpoint, role or end
 */
export function openSecrets(vault: Vault, endpoint: SealedSecrets, now: Date): string[] {
  const { id, secretSealed, previousSecretSealed: previous, previousSecretUntil: until } = endpoint;
  const current = vault.open(secretSealed, labelOf(id));
  const isRolling = until !== null && until > now;
  if (!isRolling || previous === null) return [current];
  return [current, vault.open(previous, previousLabelOf(id, until))];
}

/**
 * The secrets of an endpoint sealed under the current master secret; null when they are already. A replaced secret that
 * has ended is left out.
 * @throws Error when they cannot be opened
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
