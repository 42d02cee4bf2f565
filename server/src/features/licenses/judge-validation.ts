import { entitle, type EntitlementContext } from './entitle.ts';
import type { ValidationFinding, ValidationQuestion } from './queries/count-validations.ts';
import type { ValidationRecord } from './queries/record-validations.ts';
import { decideValidation, type ValidationDecision } from './rules/decide-validation.ts';
import type { LicenseTerms } from './rules/facts.ts';

/** The verdict on a validation. */
export interface ValidationVerdict {
  readonly decision: ValidationDecision;
  /** The signed statement that comes with a yes; null while the machine is still to be bound. */
  readonly entitlement: string | null;
  /** What has to be stored before a yes is answered; null when everything is. */
  readonly record: ValidationRecord | null;
}

/**
 * Decides a validation by the rules, and signs its token where the last one cannot be sent again. Where a machine is still
 * to be bound, nothing is signed or stored yet.
 */
export function judgeValidation(
  ctx: EntitlementContext,
  question: Omit<ValidationQuestion, 'keyHash'>,
  { license, activation, isCounted, decidedAt }: ValidationFinding,
  terms: LicenseTerms,
): ValidationVerdict {
  const decision = decideValidation(license, activation, question.machineId, decidedAt);
  if (!decision.valid || decision.bindMachineId !== null || activation === null) {
    return { decision, entitlement: null, record: null };
  }
  const { status } = decision;
  const { token, freshProof } = entitle(ctx, license, terms, status, activation, decidedAt);
  if (isCounted && freshProof === null) return { decision, entitlement: token, record: null };
  const { installId, usageSharing } = question;
  const record = {
    licenseId: license.id,
    activationId: activation.id,
    installId,
    usageSharing,
    freshProof,
    isCounted,
  };
  return { decision, entitlement: token, record };
}
