import type { LicenseAirgapActivate, LicenseAirgapActivateResponse } from '@latchkey/contract';

import { airgapNotOffered, airgapProductMismatch, invalidRequest } from '#server/errors.ts';

import {
  issueAirgapEntitlement,
  type AirgapEntitlement,
} from '../entitlements/issue-entitlement.ts';
import {
  ACTIVATION_PROBLEMS,
  activateOnLocked,
  changeMachines,
  requireUsedKey,
  type Activation,
  type Authorize,
} from './activate.ts';
import type { LicenseDependencies } from './dependencies.ts';
import { readFingerprint } from './fingerprint/read-fingerprint.ts';
import { refuse, requireByKey } from './find-license.ts';
import { setAirgappedUntil } from './queries/activations.ts';
import { readMachine, type IdentifiedMachine } from './read-machine.ts';
import {
  readAirgapRequest,
  type AirgapRequest,
  type AirgapRequestProblem,
} from './rules/airgap-request.ts';
import { viewUpdates } from './view-updates.ts';

/** A machine that was activated by its request. */
export interface AirgappedActivation extends Activation {
  readonly entitlement: AirgapEntitlement;
  /** As the request calls the machine; null: it has no name. */
  readonly machineName: string | null;
}

/** Why a license may not be activated on another machine, also one without a connection. */
export const AIRGAP_PROBLEMS = [
  ...ACTIVATION_PROBLEMS,
  'airgap_not_offered',
  'airgap_product_mismatch',
] as const;

/** Why a text is no request of a machine, for the interface. */
export const AIRGAP_REQUEST_PROBLEMS: Readonly<Record<MachineRequestProblem, string>> = {
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
  if (typeof request === 'string') throw invalid(request);
  const { license } = await requireByKey(deps, licenseKey, null, clientAddress);
  const authorize = requireUsedKey(deps, { key: licenseKey, clientAddress });
  const activation = await activateByRequest(deps, license.id, request, authorize);
  return toAirgapResponse(activation);
}

/** Returns an activation as the interface shows it. */
export function toAirgapResponse(activation: AirgappedActivation): LicenseAirgapActivateResponse {
  const { activationId, status, expiresAt, terms, entitlement, machineName } = activation;
  return {
    activation_id: activationId,
    machine_name: machineName,
    expires_at: expiresAt?.toISOString() ?? null,
    features: [...terms.features],
    tier: terms.tier,
    status,
    ...viewUpdates(activation),
    entitlement: entitlement.token,
    entitlement_expires_at: entitlement.expiresAt.toISOString(),
  };
}

/** A request and the machine that it identifies. */
export interface MachineRequest {
  readonly request: AirgapRequest;
  readonly machine: IdentifiedMachine & { readonly machineId: string };
}

/** Why a text is no request of a machine; `machine`: it does not identify one. */
export type MachineRequestProblem = AirgapRequestProblem | 'machine';

/** Reads the request in a text; returns why it is none. */
export function readMachineRequest(
  { vault }: Pick<LicenseDependencies, 'vault'>,
  text: string,
): MachineRequest | MachineRequestProblem {
  const reading = readAirgapRequest(text);
  if (!reading.ok) return reading.problem;
  const { request } = reading;
  if (!readFingerprint(request.machineFingerprint).ok) return 'content';
  const machine = readMachine(vault, request.machineFingerprint);
  const { machineId } = machine;
  return machineId === null ? 'machine' : { request, machine: { ...machine, machineId } };
}

/**
 * Activates the machine of a request. The same machine keeps its activation, however often its requests are used, and
 * gets a new entitlement.
 * @param authorize as in {@link changeMachines}
 * @throws licenseNotFound, airgapNotOffered, airgapProductMismatch, and what an activation throws
 */
export async function activateByRequest(
  deps: LicenseDependencies,
  licenseId: string,
  { request, machine }: MachineRequest,
  authorize: Authorize,
): Promise<AirgappedActivation> {
  return changeMachines(deps, licenseId, authorize, async (client, license) => {
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

function invalid(problem: MachineRequestProblem) {
  const loc = ['body', 'request'];
  return invalidRequest([{ loc, msg: AIRGAP_REQUEST_PROBLEMS[problem], type: 'value_error' }]);
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
