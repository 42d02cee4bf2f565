import type { LicenseValidate, LicenseValidateResponse } from '@latchkey/contract';

import type { Context } from '#server/context.ts';

import { entitle } from './entitle.ts';
import { findByKey, noteUnknownKey } from './find-license.ts';
import { bindMachine } from './queries/activations.ts';
import type { KeyFinding } from './queries/find-by-key.ts';
import { decideValidation, type ValidationDecision } from './rules/decide-validation.ts';
import { daysUntilExpiry } from './rules/status.ts';
import { findCatalogTerms, readTerms, type LicenseTerms } from './terms.ts';

type Refusal = Extract<ValidationDecision, { valid: false }>;
type Approval = Extract<ValidationDecision, { valid: true }>;

/**
 * Says whether an activation may run now. Every well-formed question gets its answer in the body; a valid one is counted,
 * durably, before it is given.
 * @param clientAddress the client's IP address, which is slowed down when it asks for many keys that nobody has
 * @throws rateLimited (429) for an unknown key while the address is slowed down
 */
export async function validateLicense(
  ctx: Context,
  request: LicenseValidate,
  clientAddress: string,
): Promise<LicenseValidateResponse> {
  const finding = await findByKey(ctx, request.license_key, request.activation_id);
  if (finding === null) noteUnknownKey(ctx, clientAddress);
  const now = ctx.clock.now();
  const decision = decide(finding, request, now);
  const terms = finding === null ? null : await termsOf(ctx, finding);
  if (!decision.valid) return answerRefusal(ctx, decision, terms, now);
  if (finding?.activation == null || terms === null)
    throw new Error('approved without an activation');
  if (decision.bindMachineId !== null) {
    // Whoever lost the race for the binding finds the winner's machine when it asks again.
    await bindMachine(ctx.pool, finding.license.id, finding.activation.id, decision.bindMachineId);
    return validateLicense(ctx, request, clientAddress);
  }
  return approve(
    ctx,
    request,
    { ...finding, activation: finding.activation, terms },
    decision,
    now,
  );
}

interface Approved {
  readonly license: KeyFinding['license'];
  readonly activation: NonNullable<KeyFinding['activation']>;
  readonly terms: LicenseTerms;
}

async function approve(
  ctx: Context,
  request: LicenseValidate,
  { license, activation, terms }: Approved,
  decision: Approval,
  now: Date,
): Promise<LicenseValidateResponse> {
  const entitlement = entitle(ctx, license, terms, decision.status, activation, now);
  const counted = await ctx.batches.validations.submit({
    licenseId: license.id,
    activationId: activation.id,
    installId: request.install_id ?? null,
    usageSharing: request.usage_sharing ?? null,
    freshProof: entitlement.freshProof,
    validatedAt: now,
  });
  if (!counted) {
    const inactive = { ...decision, valid: false, reason: 'activation_inactive' } as const;
    return answerRefusal(ctx, inactive, terms, now);
  }
  return {
    valid: true,
    ...describe(decision, terms, now),
    reason: null,
    entitlement: entitlement.token,
  };
}

function decide(finding: KeyFinding | null, request: LicenseValidate, now: Date) {
  return decideValidation(
    finding?.license ?? null,
    finding?.activation ?? null,
    request.machine_id,
    now,
  );
}

/** Waits for the database only for a product that has left the catalogue. */
function termsOf(ctx: Context, { license }: KeyFinding): LicenseTerms | Promise<LicenseTerms> {
  return findCatalogTerms(ctx.catalog(), license) ?? readTerms(ctx.pool, ctx.catalog(), license);
}

function answerRefusal(
  ctx: Context,
  decision: Refusal,
  terms: LicenseTerms | null,
  now: Date,
): LicenseValidateResponse {
  ctx.metrics.countRefusal('validate', decision.reason);
  return {
    valid: false,
    ...describe(decision, terms, now),
    reason: decision.reason,
    entitlement: null,
  };
}

function describe(decision: ValidationDecision, terms: LicenseTerms | null, now: Date) {
  return {
    status: decision.status,
    expires_at: decision.expiresAt?.toISOString() ?? null,
    days_until_expiry: daysUntilExpiry(decision.expiresAt, now),
    tier: terms?.tier ?? null,
  };
}
