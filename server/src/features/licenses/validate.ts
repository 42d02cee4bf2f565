import type { LicenseValidate, LicenseValidateResponse } from '@latchkey/contract';

import type { Context } from '#server/context.ts';

import { lookUpKey } from './find-license.ts';
import { judgeValidation, type ValidationVerdict } from './judge-validation.ts';
import { bindMachine } from './queries/activations.ts';
import type { ValidationFinding } from './queries/count-validations.ts';
import type { LicenseTerms } from './rules/facts.ts';
import { daysUntilExpiry } from './rules/status.ts';
import { findCatalogTerms } from './terms.ts';

/**
 * Says whether an activation may run now. Every well-formed question is answered in the body; a yes is counted durably
 * before it is given.
 * @param clientAddress the client's IP address, which is slowed down when it asks for many unknown keys
 * @throws rateLimited (429) while the address is paused, for an unknown key and for a foreign one that is new to it
 */
export async function validateLicense(
  ctx: Context,
  request: LicenseValidate,
  clientAddress: string,
): Promise<LicenseValidateResponse> {
  const question = {
    activationId: request.activation_id.toLowerCase(),
    machineId: request.machine_id,
    installId: request.install_id ?? null,
    usageSharing: request.usage_sharing ?? null,
  };
  const finding = await lookUpKey(ctx, request.license_key, clientAddress, (keyHash) =>
    ctx.batches.validations.submit({ ...question, keyHash }),
  );
  if (finding === null) return refuseUnknownKey(ctx);
  const { license } = finding;
  const terms =
    findCatalogTerms(ctx.catalog(), license) ?? (await ctx.batches.soldTerms.submit(license));
  const verdict = judgeValidation(ctx, question, finding, terms);
  if (verdict.decision.valid && verdict.decision.bindMachineId !== null) {
    // If another machine won the race for the binding, asking again finds that out.
    const { bindMachineId } = verdict.decision;
    await ctx.databaseLimiter.run(() =>
      bindMachine(ctx.pool, license.id, request.activation_id, bindMachineId),
    );
    return validateLicense(ctx, request, clientAddress);
  }
  if (await isRecorded(ctx, verdict)) return answer(ctx, finding, terms, verdict);
  return answer(ctx, finding, terms, withdraw(verdict));
}

/** Whether a validation is counted, and a new token stored; false: the activation was deactivated meanwhile. */
async function isRecorded(ctx: Context, { record }: ValidationVerdict): Promise<boolean> {
  if (record === null) return true;
  const isActive = await ctx.batches.validationRecords.submit(record);
  return isActive || record.isCounted;
}

/** A yes that could not be counted. */
function withdraw(verdict: ValidationVerdict): ValidationVerdict {
  const { status, expiresAt } = verdict.decision;
  return {
    decision: { valid: false, status, expiresAt, reason: 'activation_inactive' },
    entitlement: null,
    record: null,
  };
}

function refuseUnknownKey(ctx: Context): LicenseValidateResponse {
  ctx.metrics.countRefusal('validate', 'license_not_found');
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

function answer(
  ctx: Context,
  { decidedAt }: ValidationFinding,
  terms: LicenseTerms,
  { decision, entitlement }: ValidationVerdict,
): LicenseValidateResponse {
  if (!decision.valid) ctx.metrics.countRefusal('validate', decision.reason);
  return {
    valid: decision.valid,
    expires_at: decision.expiresAt?.toISOString() ?? null,
    days_until_expiry: daysUntilExpiry(decision.expiresAt, decidedAt),
    tier: terms.tier,
    status: decision.status,
    reason: decision.valid ? null : decision.reason,
    entitlement,
  };
}
