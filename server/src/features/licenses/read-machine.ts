import { invalidRequest } from '#server/errors.ts';
import type { Vault } from '#server/lib/vault.ts';

import { hashIdentity, type HashedIdentity, type MachineIdentity } from './fingerprint/identity.ts';
import { readFingerprint } from './fingerprint/read-fingerprint.ts';

/** A machine that presents itself: its identity as hashes, and what the client calls it. */
export interface PresentedMachine {
  readonly identity: HashedIdentity;
  /** The same identity under the previous master secrets; empty except during a rotation. */
  readonly olderIdentities: readonly HashedIdentity[];
  readonly machineId: string | null;
  readonly osVersion: string | null;
  readonly appVersion: string | null;
}

/**
 * Reads a fingerprint and hashes what identifies the machine.
 * @throws InvalidRequestError (422) when the fingerprint is empty or passes its limits
 */
export function readMachine(
  vault: Vault,
  fingerprint: Readonly<Record<string, unknown>>,
): PresentedMachine {
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
 * What a fingerprint says of its machine, readable as it came.
 * @throws InvalidRequestError (422) when the fingerprint is empty or passes its limits
 */
export function requireIdentity(fingerprint: Readonly<Record<string, unknown>>): MachineIdentity {
  const reading = readFingerprint(fingerprint);
  if (reading.ok) return reading.identity;
  const loc = ['body', 'machine_fingerprint'];
  throw invalidRequest([{ loc, msg: reading.message, type: 'value_error' }]);
}
