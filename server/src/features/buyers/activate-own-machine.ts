import { PublicError } from '#server/errors.ts';

import {
  activateByRequest,
  readMachineRequest,
  type AirgappedActivation,
  type MachineRequestProblem,
} from '../licenses/activate-airgapped.ts';
import type { BuyerDependencies } from './dependencies.ts';
import { requireOwner } from './free-own-machine.ts';
import { requireOwnLicense } from './own-licenses.ts';
import type { BuyerSession } from './session.ts';

/** The outcome of a request of a machine without a connection. */
export type OwnActivation =
  | { readonly kind: 'activated'; readonly activation: AirgappedActivation }
  /** The text is no request. */
  | { readonly kind: 'problem'; readonly problem: MachineRequestProblem }
  /** The license refuses the machine. */
  | { readonly kind: 'refused'; readonly error: PublicError };

/**
 * Activates a machine without a connection for the owner of a license.
 * @param text contains the request
 * @throws licenseNotFound (404)
 */
export async function activateOwnMachine(
  deps: BuyerDependencies,
  session: BuyerSession,
  licenseId: string,
  text: string,
): Promise<OwnActivation> {
  const license = await requireOwnLicense(deps, session, licenseId);
  const request = readMachineRequest(deps, text);
  if (typeof request === 'string') return { kind: 'problem', problem: request };
  try {
    const authorize = requireOwner(session);
    const activation = await activateByRequest(deps, license.id, request, authorize);
    return { kind: 'activated', activation };
  } catch (error) {
    if (error instanceof PublicError && error.status < 429 && error.status !== 404) {
      return { kind: 'refused', error };
    }
    throw error;
  }
}
