import type { TrialStartRequest, TrialStartResponse } from '@latchkey/contract';

import type { Context } from '#server/context.ts';
import { PublicError } from '#server/errors.ts';

import { activateMachine } from '../licenses/activate.ts';
import { issueEntitlement } from '../entitlements/issue-entitlement.ts';
import { trialClaims } from '../licenses/fingerprint/identity.ts';
import { storeEntitlementProof } from '../licenses/queries/activations.ts';
import { readMachine, type IdentifiedMachine } from '../licenses/read-machine.ts';
import type { LicenseTerms } from '../licenses/rules/facts.ts';
import { isUsable, licenseStatus, publicExpiry } from '../licenses/rules/status.ts';
import { licenseKeyLabel } from '../licenses/license-key.ts';
import { findCatalogTerms, readTerms, TRIAL_TIER } from '../licenses/terms.ts';
import type { Trial } from './trial.ts';

/** The slot that a trial answers with. */
interface Slot {
  readonly activationId: string;
  readonly token: string | null;
}

interface SlotRequest {
  readonly trial: Trial;
  readonly terms: LicenseTerms;
  readonly machine: IdentifiedMachine;
  readonly installId: string | null;
}

/**
 * Grants the one trial of a machine, or recovers the one that it was granted earlier, even if that is over.
 * @throws InvalidRequestError (422) for a fingerprint that is empty or too large
 */
export async function startTrial(
  ctx: Context,
  request: TrialStartRequest,
): Promise<TrialStartResponse> {
  const machine = readMachine(ctx.vault, request.machine_fingerprint);
  const installId = request.install_id ?? null;
  const claims = trialClaims(machine.identity);
  const olderClaims = machine.olderIdentities.flatMap(trialClaims);
  const trial = await ctx.batches.trials.submit({ claims, olderClaims, machine, installId });
  const now = ctx.clock.now();
  const terms =
    findCatalogTerms(ctx.catalog(), trial.license) ??
    (await ctx.databaseLimiter.run(() => readTerms(ctx.pool, ctx.catalog(), trial.license)));
  const slot = await findSlot(ctx, { trial, terms, machine, installId }, now);
  const expiresAt = publicExpiry(trial.license, now);
  if (expiresAt === null) throw new Error('a trial without an end');
  return {
    license_key: ctx.vault.open(trial.keySealed, licenseKeyLabel(trial.license.id)),
    activation_id: slot.activationId,
    expires_at: expiresAt.toISOString(),
    features: [...terms.features],
    status: licenseStatus(trial.license, now),
    tier: terms.tier ?? TRIAL_TIER,
    entitlement: slot.token,
  };
}

/** The slot of the trial; a machine that was deactivated or has changed since takes it as if by activating. */
async function findSlot(
  ctx: Context,
  { trial, terms, machine, installId }: SlotRequest,
  now: Date,
): Promise<Slot> {
  const { license, activation } = trial;
  const status = licenseStatus(license, now);
  if (!isUsable(status)) return { activationId: activation.id, token: null };
  if (isUnchanged(trial, machine)) {
    const { token, newProof } = issueEntitlement(ctx, license, terms, status, activation, now);
    if (newProof !== null) {
      await ctx.databaseLimiter.run(() =>
        storeEntitlementProof(ctx.pool, license.id, activation.id, newProof),
      );
    }
    return { activationId: activation.id, token };
  }
  return takeSlotAgain(ctx, trial, machine, installId);
}

function isUnchanged({ activation }: Trial, machine: IdentifiedMachine): boolean {
  return (
    activation.isActive &&
    activation.machineDigest === machine.identity.digest &&
    (machine.machineId === null || machine.machineId === activation.machineId)
  );
}

/** Trials match machines more loosely than activations do: a mere relative of the machine gets the grant but no slot. */
async function takeSlotAgain(
  ctx: Context,
  { license, activation }: Trial,
  machine: IdentifiedMachine,
  installId: string | null,
): Promise<Slot> {
  try {
    const taken = await activateMachine(ctx, license.id, machine, installId, null);
    return { activationId: taken.activationId, token: taken.token };
  } catch (error) {
    if (error instanceof PublicError && error.status < 500) {
      return { activationId: activation.id, token: null };
    }
    throw error;
  }
}
