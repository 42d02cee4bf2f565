import type { LicenseValidate, LicenseValidateResponse } from '@latchkey/contract';

import type { Context } from '#server/context.ts';

import { admitKey, noteKnownKey, noteUnknownKey } from './find-license.ts';
import { findOlderKeyHash } from './find-older-key.ts';
import { identifyLicenseKey } from './hash-license-key.ts';
import { bindMachine } from './queries/activations.ts';
import { daysUntilExpiry } from './rules/status.ts';
import type { ValidationVerdict } from './validate-batch.ts';

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
  const key = identifyLicenseKey(ctx, request.license_key);
  if (key === null) return refuseUnknownKey(ctx, clientAddress);
  admitKey(ctx, key, clientAddress);
  const question = {
    keyHash: key.keyHash,
    activationId: request.activation_id.toLowerCase(),
    machineId: request.machine_id,
    installId: request.install_id ?? null,
    usageSharing: request.usage_sharing ?? null,
  };
  let verdict = await ctx.batches.validations.submit(question);
  if (verdict.licenseId === null) {
    const keyHash = await findOlderKeyHash(ctx, request.license_key);
    if (keyHash !== null) verdict = await ctx.batches.validations.submit({ ...question, keyHash });
  }
  const { decision, licenseId } = verdict;
  if (licenseId === null) return refuseUnknownKey(ctx, clientAddress);
  noteKnownKey(ctx, key, clientAddress);
  if (decision.valid && decision.bindMachineId !== null) {
    // If another machine won the race for the binding, asking again finds that out.
    const { bindMachineId } = decision;
    await ctx.gate.run(() =>
      bindMachine(ctx.pool, licenseId, request.activation_id, bindMachineId),
    );
    return validateLicense(ctx, request, clientAddress);
  }
  if (!decision.valid) ctx.metrics.countRefusal('validate', decision.reason);
  return toResponse(verdict);
}

function refuseUnknownKey(ctx: Context, clientAddress: string): LicenseValidateResponse {
  noteUnknownKey(ctx, clientAddress);
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

function toResponse(verdict: ValidationVerdict): LicenseValidateResponse {
  const { decision, terms, entitlement, decidedAt } = verdict;
  return {
    valid: decision.valid,
    expires_at: decision.expiresAt?.toISOString() ?? null,
    days_until_expiry: daysUntilExpiry(decision.expiresAt, decidedAt),
    tier: terms?.tier ?? null,
    status: decision.status,
    reason: decision.valid ? null : decision.reason,
    entitlement,
  };
}
