import { v7 as makeUuid } from 'uuid';

import { PublicError } from '#server/errors.ts';

import { activateMachine } from '../../licenses/activate.ts';
import type { LicenseDependencies } from '../../licenses/dependencies.ts';
import type { IdentifiedMachine } from '../../licenses/read-machine.ts';
import type { Answer } from '../answer.ts';
import { findInstance } from '../queries/instances.ts';
import { findKeyProblem, LIMIT_REACHED } from './describe.ts';
import { answer, refuse, refuseUnknownKey } from './answer.ts';
import { findByRequest, readShown } from './find-shown.ts';

const DIGEST_HEX_DIGITS = 32;

/**
 * Activates a license on one more machine. Like Lemon Squeezy, it does not recognize a machine: each call adds one.
 * @param name the program's name of the machine, shown to operators and buyers
 * @throws licenseNotFound (404), rateLimited (429)
 */
export async function activateInstance(
  deps: LicenseDependencies,
  request: { readonly key: string; readonly name: string; readonly network: string },
): Promise<Answer> {
  const { key, name, network } = request;
  const found = await findByRequest(deps, { key, instanceId: null, network });
  if (found === null) return refuseUnknownKey('activated');
  const { id } = found.license;
  const usedKey = { key, clientAddress: network };
  const outcome = await tryToActivate(() =>
    activateMachine(deps, id, newMachine(deps, name), null, usedKey),
  );
  const shown = await readShown(deps, found, key);
  const now = deps.clock.now();
  if (outcome === null) {
    const problem = findKeyProblem(shown, now) ?? LIMIT_REACHED;
    return refuse('activated', problem, shown, now);
  }
  const instance = await deps.databaseLimiter.run(() =>
    findInstance(deps.pool, id, outcome.activationId),
  );
  return answer('activated', shown, instance, now);
}

/** Returns null when the license refuses another machine. */
async function tryToActivate<Activation>(
  activate: () => Promise<Activation>,
): Promise<Activation | null> {
  try {
    return await activate();
  } catch (error) {
    if (error instanceof PublicError && (error.status === 403 || error.status === 409)) return null;
    throw error;
  }
}

/** A machine of which nothing is known but a name: it equals no other one. */
function newMachine({ vault }: LicenseDependencies, name: string): IdentifiedMachine {
  const digest = vault.hashText('fingerprint', `instance ${makeUuid()}`);
  return {
    identity: { strong: [], medium: [], weak: [], digest: digest.slice(0, DIGEST_HEX_DIGITS) },
    olderIdentities: [],
    machineId: name,
    osVersion: null,
    appVersion: null,
  };
}
