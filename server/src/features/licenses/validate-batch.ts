import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import type { Catalog } from '#server/config/catalog.ts';

import { entitle, type EntitlementContext } from './entitle.ts';
import { findLicensesByKeys, type KeyFinding, type KeyLookup } from './queries/find-by-key.ts';
import { recordValidationsOf, type ValidationRecord } from './queries/record-validations.ts';
import { decideValidation, type ValidationDecision } from './rules/decide-validation.ts';
import type { LicenseTerms } from './rules/facts.ts';
import { readTermsOfAll } from './terms.ts';

/** One client's question whether its activation may run. */
export interface ValidationQuestion extends KeyLookup {
  readonly activationId: string;
  /** As the client sent it. */
  readonly machineId: string;
  readonly installId: string | null;
  readonly usageSharing: boolean | null;
}

/** The verdict on one question. */
export interface ValidationVerdict {
  readonly decision: ValidationDecision;
  /** Null for a key that nobody has. */
  readonly licenseId: string | null;
  readonly terms: LicenseTerms | null;
  /** The signed statement that comes with a yes; null while the machine is still to be bound. */
  readonly entitlement: string | null;
  readonly decidedAt: Date;
}

/** What judging needs of the context. */
export interface ValidationContext extends EntitlementContext {
  readonly catalog: () => Catalog;
  readonly clock: Clock;
  readonly pool: Pool;
}

/**
 * Judges many questions at once: one statement reads what they are about, the rules decide each, one statement counts
 * the valid ones. A yes is durable when this resolves. Where a machine is still to be bound nothing is counted yet.
 */
export async function judgeValidations(
  ctx: ValidationContext,
  questions: readonly ValidationQuestion[],
): Promise<readonly ValidationVerdict[]> {
  const findings = await findLicensesByKeys(ctx.pool, questions);
  const licenses = findings.map((finding) => finding?.license ?? null);
  const terms = await readTermsOfAll(ctx.pool, ctx.catalog(), licenses);
  const now = ctx.clock.now();
  const records: ValidationRecord[] = [];
  const verdicts = questions.map((question, index) =>
    judge(ctx, question, findings[index] ?? null, terms[index] ?? null, now, records),
  );
  if (records.length === 0) return verdicts;
  const inactive = await recordValidationsOf(ctx.pool, records, now);
  if (inactive.size === 0) return verdicts;
  return verdicts.map((verdict, index) =>
    inactive.has(questions[index]?.activationId ?? '') ? withdraw(verdict) : verdict,
  );
}

/** Decides one question; a yes is added to the records. */
function judge(
  ctx: ValidationContext,
  question: ValidationQuestion,
  finding: KeyFinding | null,
  terms: LicenseTerms | null,
  now: Date,
  records: ValidationRecord[],
): ValidationVerdict {
  const license = finding?.license ?? null;
  const activation = finding?.activation ?? null;
  const decision = decideValidation(license, activation, question.machineId, now);
  const verdict = { decision, licenseId: license?.id ?? null, terms, decidedAt: now };
  if (!decision.valid || decision.bindMachineId !== null) return { ...verdict, entitlement: null };
  if (license === null || activation === null || terms === null) {
    throw new Error('a validation was approved without an activation');
  }
  const { token, freshProof } = entitle(ctx, license, terms, decision.status, activation, now);
  records.push({
    licenseId: license.id,
    activationId: activation.id,
    installId: question.installId,
    usageSharing: question.usageSharing,
    freshProof,
  });
  return { ...verdict, entitlement: token };
}

/** A yes that could not be counted: the activation was deactivated between the two statements. */
function withdraw(verdict: ValidationVerdict): ValidationVerdict {
  const { decision } = verdict;
  if (!decision.valid) return verdict;
  const { status, expiresAt } = decision;
  return {
    ...verdict,
    decision: { valid: false, status, expiresAt, reason: 'activation_inactive' },
    entitlement: null,
  };
}
