import type {
  BuyerLicense,
  BuyerLicenses,
  BuyerMachine,
  BuyerMachines,
  LicenseAirgapActivateResponse,
} from '@latchkey/contract';

import { freeingLimitReached, invalidRequest, machineAirgapped } from '#server/errors.ts';

import { AIRGAP_REQUEST_PROBLEMS, toAirgapResponse } from '../licenses/activate-airgapped.ts';
import { licenseStatus, publicExpiry } from '../licenses/rules/status.ts';
import { activateOwnMachine } from './activate-own-machine.ts';
import type { BuyerDependencies } from './dependencies.ts';
import { freeOwnMachine } from './free-own-machine.ts';
import {
  airgapDaysOf,
  findBuyLinks,
  findPortal,
  listOwnLicenses,
  listOwnMachines,
  MAX_LICENSES,
  type OwnMachine,
} from './own-licenses.ts';
import type { OwnLicense } from './queries/own-licenses.ts';
import type { BuyerSession } from './session.ts';

/** Lists the licenses of a session. */
export async function viewOwnLicenses(
  deps: BuyerDependencies,
  session: BuyerSession,
): Promise<BuyerLicenses> {
  const licenses = await listOwnLicenses(deps, session);
  return {
    items: licenses.slice(0, MAX_LICENSES).map((license) => viewLicense(deps, license)),
    has_more: licenses.length > MAX_LICENSES,
  };
}

function viewLicense(deps: BuyerDependencies, license: OwnLicense): BuyerLicense {
  const now = deps.clock.now();
  const { renewal, upgrade } = findBuyLinks(deps, license);
  return {
    id: license.id,
    product_id: license.productId,
    product_name: deps.catalog().products.get(license.productId)?.name ?? license.productId,
    key_hint: license.keyHint,
    status: licenseStatus(license, now),
    expires_at: publicExpiry(license, now)?.toISOString() ?? null,
    updates_until: license.updatesUntil?.toISOString() ?? null,
    max_activations: license.maxActivations,
    active_activations: license.active,
    airgap_days: airgapDaysOf(deps, license),
    ...(renewal === null ? {} : { renew_url: renewal }),
    ...(upgrade === null ? {} : { upgrade_url: upgrade }),
  };
}

/** Reads a page of the active machines of a license of a session. @throws licenseNotFound (404) */
export async function viewOwnMachines(
  deps: BuyerDependencies,
  session: BuyerSession,
  licenseId: string,
  page: number,
): Promise<BuyerMachines> {
  const machines = await listOwnMachines(deps, session, licenseId, page);
  return {
    items: machines.active.map(viewMachine),
    page: machines.page,
    pages: machines.pages,
    moves_left: machines.moves.left,
    moves_days: machines.moves.days,
    portal_url: findPortal(deps, machines),
  };
}

function viewMachine(machine: OwnMachine): BuyerMachine {
  return {
    activation_id: machine.activationId,
    machine_id: machine.machineId,
    os_version: machine.osVersion,
    app_version: machine.appVersion,
    last_seen_at: machine.lastSeenAt.toISOString(),
    activated_at: machine.activatedAt.toISOString(),
    airgapped_until: machine.airgappedUntil?.toISOString() ?? null,
  };
}

/**
 * Deactivates a machine of a license of a session. Repeating it changes nothing.
 * @throws licenseNotFound, activationNotFound (404), machineAirgapped, freeingLimitReached (409)
 */
export async function requireFreed(
  deps: BuyerDependencies,
  session: BuyerSession,
  licenseId: string,
  activationId: string,
): Promise<void> {
  const decision = await freeOwnMachine(deps, session, licenseId, activationId);
  if (decision.kind === 'airgapped') throw machineAirgapped(decision.until);
  if (decision.kind === 'limit') {
    throw freeingLimitReached(decision.limit, decision.days, decision.availableAt);
  }
}

/**
 * Exchanges the request of a machine without a connection for its entitlement.
 * @throws InvalidRequestError (422), licenseNotFound, and what `activateAirgapped` throws
 */
export async function requireActivated(
  deps: BuyerDependencies,
  session: BuyerSession,
  licenseId: string,
  text: string,
): Promise<LicenseAirgapActivateResponse> {
  const outcome = await activateOwnMachine(deps, session, licenseId, text);
  if (outcome.kind === 'refused') throw outcome.error;
  if (outcome.kind === 'activated') return toAirgapResponse(outcome.activation);
  const msg = AIRGAP_REQUEST_PROBLEMS[outcome.problem];
  throw invalidRequest([{ loc: ['body', 'request'], msg, type: 'value_error' }]);
}
