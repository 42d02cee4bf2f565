import type { TrialStartRequest, TrialStartResponse } from '@latchkey/contract';

import { PublicError } from '#server/errors.ts';

import { issueEntitlement } from '../entitlements/issue-entitlement.ts';
import { activateMachine } from '../licenses/activate.ts';
import type { LicenseDependencies } from '../licenses/dependencies.ts';
import { trialClaims } from '../licenses/fingerprint/identity.ts';
import { licenseKeyLabel } from '../licenses/license-key.ts';
import { storeEntitlementProof } from '../licenses/queries/activations.ts';
import { readMachine, type IdentifiedMachine } from '../licenses/read-machine.ts';
import type { LicenseTerms } from '../licenses/rules/facts.ts';
import { isUsable, licenseStatus, publicExpiry } from '../licenses/rules/status.ts';
import { findCatalogTerms, readTerms, TRIAL_TIER } from '../licenses/terms.ts';
import type { Trial } from './queries.ts';
import type { TrialBatch } from './trial.ts';

export interface TrialDependencies extends LicenseDependencies {
  readonly batches: LicenseDependencies['batches'] & { readonly trials: TrialBatch };
}

/** The activation of the response, and its token while it is usable. */
interface TrialActivation {
  readonly activationId: string;
  readonly token: string | null;
}

interface ActivationRequest {
  readonly trial: Trial;
  readonly terms: LicenseTerms;
  readonly machine: IdentifiedMachine;
  readonly installId: string | null;
}

/**
 * Grants the one trial of a machine, or returns the existing one, also when it has expired.
 * @throws InvalidRequestError (422) for a fingerprint that is empty or too large
 */
export async function startTrial(
  deps: TrialDependencies,
  request: TrialStartRequest,
): Promise<TrialStartResponse> {
  const machine = readMachine(deps.vault, request.machine_fingerprint);
  const installId = request.install_id ?? null;
  const claims = trialClaims(machine.identity);
  const olderClaims = machine.olderIdentities.flatMap(trialClaims);
  const trial = await deps.batches.trials.submit({ claims, olderClaims, machine, installId });
  const now = deps.clock.now();
  const terms =
    findCatalogTerms(deps.catalog(), trial) ??
    (await deps.databaseLimiter.run(() => readTerms(deps.pool, deps.catalog(), trial)));
  const activation = await findActivation(deps, { trial, terms, machine, installId }, now);
  const expiresAt = publicExpiry(trial, now);
  if (expiresAt === null) throw new Error('a trial has no expiry');
  return {
    license_key: deps.vault.open(trial.keySealed, licenseKeyLabel(trial.id)),
    activation_id: activation.activationId,
    expires_at: expiresAt.toISOString(),
    features: [...terms.features],
    status: licenseStatus(trial, now),
    tier: terms.tier ?? TRIAL_TIER,
    entitlement: activation.token,
  };
}

/** Returns the activation of a trial; a machine that was deactivated or has changed is activated again. */
async function findActivation(
  deps: TrialDependencies,
  { trial, terms, machine, installId }: ActivationRequest,
  now: Date,
): Promise<TrialActivation> {
  const { activationId, machineId, entitlementProof } = trial;
  const status = licenseStatus(trial, now);
  if (!isUsable(status)) return { activationId, token: null };
  if (!isUnchanged(trial, machine)) return activateAgain(deps, trial, machine, installId);
  const activation = { id: activationId, machineId, entitlementProof };
  const { token, newProof } = issueEntitlement(deps, trial, terms, status, activation, now);
  if (newProof !== null) {
    await deps.databaseLimiter.run(() =>
      storeEntitlementProof(deps.pool, trial.id, activationId, newProof),
    );
  }
  return { activationId, token };
}

function isUnchanged(trial: Trial, machine: IdentifiedMachine): boolean {
  return (
    trial.isActive &&
    trial.machineDigest === machine.identity.digest &&
    (machine.machineId === null || machine.machineId === trial.machineId)
  );
}

/** Claims match more loosely than activations: a machine that only shares claims gets the trial, but no activation. */
async function activateAgain(
  deps: TrialDependencies,
  { id, activationId }: Trial,
  machine: IdentifiedMachine,
  installId: string | null,
): Promise<TrialActivation> {
  try {
    return await activateMachine(deps, id, machine, installId, null);
  } catch (error) {
    if (error instanceof PublicError && error.status < 500) {
      return { activationId, token: null };
    }
    throw error;
  }
}
