import { invalidRequest } from '#server/errors.ts';
import type { Vault } from '#server/lib/vault.ts';

import { hashIdentity, type HashedIdentity, type MachineIdentity } from './fingerprint/identity.ts';
import { readFingerprint } from './fingerprint/read-fingerprint.ts';

/** A client's machine: its identity as hashes, and the client's own values. */
export interface IdentifiedMachine {
  readonly identity: HashedIdentity;
  /** The same identity under the previous master secrets; empty except during a rotation. */
  readonly olderIdentities: readonly HashedIdentity[];
  readonly machineId: string | null;
  readonly osVersion: string | null;
  readonly appVersion: string | null;
}

/**
 * Reads a fingerprint and hashes the identity of its machine.
 * @throws InvalidRequestError (422) when the fingerprint is empty or exceeds its limits
 */
export function readMachine(
  vault: Vault,
  fingerprint: Readonly<Record<string, unknown>>,
): IdentifiedMachine {
  const identity = requireIdentity(fingerprint);
  const { machineId, osVersion, appVersion } = identity;
  return {
    identity: hashIdentity(vault, identity),
    olderIdentities: vault.previous.map((hashes) => hashIdentity(hashes, identity)),
    machineId,
    osVersion,
    appVersion,
  };
}

/**
 * Reads a fingerprint, without hashing it.
 * @throws InvalidRequestError (422) when the fingerprint is empty or exceeds its limits
 */
export function requireIdentity(fingerprint: Readonly<Record<string, unknown>>): MachineIdentity {
  const reading = readFingerprint(fingerprint);
  if (reading.ok) return reading.identity;
  const loc = ['body', 'machine_fingerprint'];
  throw invalidRequest([{ loc, msg: reading.message, type: 'value_error' }]);
}
