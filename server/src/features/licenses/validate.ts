import type { LicenseValidate, LicenseValidateResponse } from '@latchkey/contract';

import {
  issueEntitlement,
  type EntitlementDependencies,
} from '../entitlements/issue-entitlement.ts';
import type { LicenseDependencies } from './dependencies.ts';
import { lookUpKey } from './find-license.ts';
import {
  bindMachine,
  type ValidationFacts,
  type ValidationRecord,
  type ValidationRequest,
} from './queries/validations.ts';
import { decideValidation, type ValidationDecision } from './rules/decide-validation.ts';
import type { LicenseTerms } from './rules/facts.ts';
import { daysUntilExpiry } from './rules/status.ts';
import { findCatalogTerms } from './terms.ts';
import { viewUpdates } from './view-updates.ts';

/**
 * Validates an activation. Every well-formed request is answered in the body; a valid answer is counted
 * durably before it is sent.
 * @param clientAddress the client's IP address, which is paused when it sends many unknown keys
 * @throws rateLimited (429) while the address is paused, for an unknown key and for a guessable one that is new to it
 */
export async function validateLicense(
  deps: LicenseDependencies,
  body: LicenseValidate,
  clientAddress: string,
): Promise<LicenseValidateResponse> {
  const request = {
    activationId: body.activation_id.toLowerCase(),
    machineId: body.machine_id,
    installId: body.install_id ?? null,
    usageSharing: body.usage_sharing ?? null,
  };
  const facts = await lookUpKey(deps, body.license_key, clientAddress, (keyHash) =>
    deps.batches.validations.submit({ ...request, keyHash }),
  );
  if (facts === null) return refuseUnknownKey(deps);
  const { license } = facts;
  const terms =
    findCatalogTerms(deps.catalog(), license) ?? (await deps.batches.soldTerms.submit(license));
  const outcome = decideAndSign(deps, request, facts, terms);
  if (outcome.decision.valid && outcome.decision.bindMachineId !== null) {
    // Validates again, because a concurrent request may have bound another machine.
    const { bindMachineId } = outcome.decision;
    await deps.databaseLimiter.run(() =>
      bindMachine(deps.pool, license.id, body.activation_id, bindMachineId),
    );
    return validateLicense(deps, body, clientAddress);
  }
  const isStored = await store(deps, outcome.record);
  return toResponse(deps, facts, terms, isStored ? outcome : refuseInactive(outcome));
}

/** The response of a validation, and the record to store before it is sent. */
interface ValidationOutcome {
  readonly decision: ValidationDecision;
  /** The signed token of a valid answer; null while the machine is not bound yet. */
  readonly entitlement: string | null;
  /** Null when everything is stored already. */
  readonly record: ValidationRecord | null;
}

/**
 * Decides a validation by the rules, and signs a token when the stored one cannot be sent again. Signs and stores
 * nothing while the machine is not bound.
 */
function decideAndSign(
  deps: EntitlementDependencies,
  { machineId, installId, usageSharing }: Omit<ValidationRequest, 'keyHash'>,
  { license, activation, isCounted, decidedAt }: ValidationFacts,
  terms: LicenseTerms,
): ValidationOutcome {
  const decision = decideValidation(license, activation, machineId, decidedAt);
  if (!decision.valid || decision.bindMachineId !== null || activation === null) {
    return { decision, entitlement: null, record: null };
  }
  const { status } = decision;
  const { token, newProof } = issueEntitlement(deps, license, terms, status, activation, decidedAt);
  if (isCounted && newProof === null) return { decision, entitlement: token, record: null };
  const record = {
    licenseId: license.id,
    activationId: activation.id,
    installId,
    usageSharing,
    newProof,
    isCounted,
  };
  return { decision, entitlement: token, record };
}

/**
 * Counts a validation and stores its token; returns false when the activation was deactivated before it was counted.
 */
async function store(deps: LicenseDependencies, record: ValidationRecord | null): Promise<boolean> {
  if (record === null) return true;
  const isActive = await deps.batches.validationRecords.submit(record);
  return isActive || record.isCounted;
}

function refuseInactive({ decision: { status, expiresAt } }: ValidationOutcome): ValidationOutcome {
  return {
    decision: { valid: false, status, expiresAt, reason: 'activation_inactive' },
    entitlement: null,
    record: null,
  };
}

function refuseUnknownKey(deps: LicenseDependencies): LicenseValidateResponse {
  deps.metrics.countRefusal('validate', 'license_not_found');
  return {
    valid: false,
    expires_at: null,
    days_until_expiry: null,
    tier: null,
    status: 'invalid',
    reason: 'license_not_found',
    entitlement: null,
  };
}

function toResponse(
  deps: LicenseDependencies,
  { decidedAt, license }: ValidationFacts,
  terms: LicenseTerms,
  { decision, entitlement }: ValidationOutcome,
): LicenseValidateResponse {
  if (!decision.valid) {
    deps.metrics.countRefusal('validate', decision.reason);
    deps.licenseActivity.recordRefusal(license.id, decision.reason);
  }
  return {
    valid: decision.valid,
    expires_at: decision.expiresAt?.toISOString() ?? null,
    days_until_expiry: daysUntilExpiry(decision.expiresAt, decidedAt),
    tier: terms.tier,
    status: decision.status,
    reason: decision.valid ? null : decision.reason,
    ...viewUpdates(license),
    entitlement,
  };
}
