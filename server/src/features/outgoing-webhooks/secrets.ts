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

function labelOf(endpointId: string): string {
  return `webhook-endpoint:${endpointId}`;
}

function previousLabelOf(endpointId: string, until: Date): string {
  return `${labelOf(endpointId)} until ${until.toISOString()}`;
}
