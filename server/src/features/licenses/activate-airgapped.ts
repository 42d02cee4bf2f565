import type { LicenseAirgapActivate, LicenseAirgapActivateResponse } from '@latchkey/contract';

import { airgapNotOffered, airgapProductMismatch, invalidRequest } from '#server/errors.ts';

import {
  issueAirgapEntitlement,
  type AirgapEntitlement,
} from '../entitlements/issue-entitlement.ts';
import { activateOnLocked, changeMachines, type Activation, type UsedKey } from './activate.ts';
import type { LicenseDependencies } from './dependencies.ts';
import { refuse, requireByKey } from './find-license.ts';
import { setAirgappedUntil } from './queries/activations.ts';
import { readMachine, type IdentifiedMachine } from './read-machine.ts';
import {
  readAirgapRequest,
  type AirgapRequest,
  type AirgapRequestProblem,
} from './rules/airgap-request.ts';

/** A machine that was activated by its request. */
interface AirgappedActivation extends Activation {
  readonly entitlement: AirgapEntitlement;
  /** As the request calls the machine; null: it has no name. */
  readonly machineName: string | null;
}

const PROBLEMS: Readonly<Record<AirgapRequestProblem | 'machine', string>> = {
  missing: 'request contains no activation request, which begins with LKR1.',
  damaged: 'request is cut or changed: its check does not match',
  version: 'request has an unknown version',
  content: 'request has invalid content',
  machine: 'request does not identify the machine: its fingerprint needs a machine_id',
};

/**
 * Activates a machine without a connection by the request that it shows, with the key of a license.
 * @throws InvalidRequestError (422) for an invalid request
 * @throws licenseNotFound, airgapNotOffered, airgapProductMismatch, and what an activation throws
 */
export async function activateAirgapped(
  deps: LicenseDependencies,
  { license_key: licenseKey, request: text }: LicenseAirgapActivate,
  clientAddress: string,
): Promise<LicenseAirgapActivateResponse> {
  const request = readMachineRequest(deps, text);
  const { license } = await requireByKey(deps, licenseKey, null, clientAddress);
  const usedKey = { key: licenseKey, clientAddress };
  const activation = await activateByRequest(deps, license.id, request, usedKey);
  const { activationId, status, expiresAt, terms, entitlement, machineName } = activation;
  return {
    activation_id: activationId,
    machine_name: machineName,
    expires_at: expiresAt?.toISOString() ?? null,
    features: [...terms.features],
    tier: terms.tier,
    status,
    entitlement: entitlement.token,
    entitlement_expires_at: entitlement.expiresAt.toISOString(),
  };
}

/** A request and the machine that it identifies. */
interface MachineRequest {
  readonly request: AirgapRequest;
  readonly machine: IdentifiedMachine & { readonly machineId: string };
}

/** Reads the request in a text. @throws InvalidRequestError (422) */
function readMachineRequest(
  { vault }: Pick<LicenseDependencies, 'vault'>,
  text: string,
): MachineRequest {
  const reading = readAirgapRequest(text);
  if (!reading.ok) throw invalid(reading.problem);
  const { request } = reading;
  const machine = readMachine(vault, request.machineFingerprint);
  const { machineId } = machine;
  if (machineId === null) throw invalid('machine');
  return { request, machine: { ...machine, machineId } };
}

/**
 * Activates the machine of a request. The same machine keeps its activation, however often its requests are used, and
 * gets a new entitlement.
 * @param usedKey the key by which the license was found; null when it was found without one
 * @throws licenseNotFound, airgapNotOffered, airgapProductMismatch, and what an activation throws
 */
async function activateByRequest(
  deps: LicenseDependencies,
  licenseId: string,
  { request, machine }: MachineRequest,
  usedKey: UsedKey | null,
): Promise<AirgappedActivation> {
  return changeMachines(deps, licenseId, usedKey, async (client, license) => {
    const airgapDays = requireOffer(deps, license, request);
    const activation = await activateOnLocked(deps, client, license, machine, null);
    const { activationId: id, status, terms } = activation;
    const entitlement = issueAirgapEntitlement(
      deps,
      license,
      { id, machineId: machine.machineId, status, terms },
      { airgapDays, nonce: request.nonce },
      deps.clock.now(),
    );
    await setAirgappedUntil(client, license.id, id, entitlement.expiresAt);
    return { ...activation, entitlement, machineName: request.machineName };
  });
}

function invalid(problem: keyof typeof PROBLEMS) {
  const loc = ['body', 'request'];
  return invalidRequest([{ loc, msg: PROBLEMS[problem], type: 'value_error' }]);
}

/** Returns how long an entitlement of the license's product is valid. @throws airgapNotOffered, airgapProductMismatch */
function requireOffer(
  deps: LicenseDependencies,
  { productId, trial }: { readonly productId: string; readonly trial: boolean },
  request: AirgapRequest,
): number {
  const airgapDays = deps.catalog().products.get(productId)?.airgapDays ?? null;
  if (airgapDays === null || trial) throw refuse(deps, 'activate_airgapped', airgapNotOffered());
  if (request.product !== productId)
    throw refuse(deps, 'activate_airgapped', airgapProductMismatch());
  return airgapDays;
}
