import type { LicenseFacts } from '../../licenses/rules/facts.ts';
import type { KnownLicense } from '../facts.ts';
import { digestLicense, type PlannedLicense } from './plan-license.ts';
import type { RowOutcome } from './report.ts';

/** A planned license with the values by which it is found. */
export interface EvaluatedLicense extends PlannedLicense {
  /** The id in the source, or one that follows from the key. */
  readonly knownAs: string;
  /** The hashes under which its key is stored; empty for a key that is generated. */
  readonly keyHashes: readonly string[];
}

/** What an import does with a row. */
export interface Decision {
  readonly outcome: RowOutcome;
  /** A sentence without keys and addresses; null without a problem. */
  readonly problem: string | null;
  /** The license that exists; null for a new one. */
  readonly existing: LicenseFacts | null;
  /** Whether the existing license is in no import of the source yet. */
  readonly isUnlisted: boolean;
}

/** The licenses that exist already, for some rows. */
export interface ExistingLicenses {
  /** The row of an earlier import. */
  readonly findKnown: (license: EvaluatedLicense) => KnownLicense | null;
  readonly findRecord: (licenseId: string) => LicenseFacts | null;
  readonly findByKey: (license: EvaluatedLicense) => LicenseFacts | null;
  /** The license of the same product that a payment created, or that the next payment adopts. */
  readonly findSold: (license: EvaluatedLicense) => LicenseFacts | null;
}

export interface RowFacts {
  /** The line of an earlier row of this import with the same id or key. */
  readonly earlier: number | null;
  readonly isWeak: boolean;
}

const WEAK_KEY =
  'The license_key can be guessed: import it with --allow-weak-keys, or issue a new key.';

/** Decides what happens to a planned license. */
export function decideRow(
  license: EvaluatedLicense,
  existing: ExistingLicenses,
  { earlier, isWeak }: RowFacts,
): Decision {
  const none = { existing: null, isUnlisted: false };
  if (earlier !== null) {
    const problem = `Row ${earlier} has the same key or id.`;
    return { outcome: 'duplicate', problem, ...none };
  }
  const known = existing.findKnown(license);
  if (known !== null) return decideKnown(license, known, existing);
  const owner = existing.findByKey(license);
  if (owner !== null) return decideOwned(license, owner);
  if (isWeak) return { outcome: 'weak', problem: WEAK_KEY, ...none };
  const sold = existing.findSold(license);
  if (sold !== null) return decideSold(license, sold);
  return { outcome: 'new', problem: null, ...none };
}

/** A license that was imported before: only a later end changes it. */
function decideKnown(
  license: EvaluatedLicense,
  known: KnownLicense,
  existing: ExistingLicenses,
): Decision {
  const record = existing.findRecord(known.licenseId);
  const facts = { existing: record, isUnlisted: false };
  const owner = existing.findByKey(license);
  const hasOtherKey = license.licenseKey !== null && owner?.id !== known.licenseId;
  if (hasOtherKey) {
    const problem =
      'It was imported before with another key, or its key was replaced since: if it is another license, import it without the column of ids.';
    return { outcome: 'conflict', problem, ...facts };
  }
  if (known.digest !== digestLicense(license)) {
    const problem = `It was imported before, and differs now: ${describeDifferences(license, record)}. Change the license instead.`;
    return { outcome: 'conflict', problem, ...facts };
  }
  const isRenewed = !license.hasUnknownEnd && isLater(license.expiresAt, known.expiresAt);
  return { outcome: isRenewed ? 'renewed' : 'same', problem: null, ...facts };
}

/** A license from elsewhere that has the key. */
function decideOwned(license: EvaluatedLicense, owner: LicenseFacts): Decision {
  if (owner.productId === license.product.id) {
    return { outcome: 'same', problem: null, existing: owner, isUnlisted: true };
  }
  const problem = `A license of the product ${owner.productId} has the key already.`;
  return { outcome: 'conflict', problem, existing: owner, isUnlisted: false };
}

const SOLD_BEFORE =
  'Its payment was reported here before the import and created a license with another key: the customer has two keys, and only the newer one works here.';

/** A license of a payment that was reported here before the import. */
function decideSold({ licenseKey }: EvaluatedLicense, sold: LicenseFacts): Decision {
  return licenseKey === null
    ? { outcome: 'same', problem: null, existing: sold, isUnlisted: true }
    : { outcome: 'conflict', problem: SOLD_BEFORE, existing: sold, isUnlisted: false };
}

/** Null is perpetual. */
function isLater(end: Date | null, other: Date | null): boolean {
  if (other === null) return false;
  return end === null || end > other;
}

function describeDifferences(license: EvaluatedLicense, record: LicenseFacts | null): string {
  if (record === null) return 'its license no longer exists';
  const differences = [
    describe('product', record.productId, license.product.id),
    describe('machines', record.maxActivations, license.maxActivations),
    describe('subscription', record.subscription, license.subscription),
    describe('suspended', record.suspendedAt !== null, license.suspendedAt !== null),
    describe('disputed', record.disputedAt !== null, license.disputedAt !== null),
    describe('refunded', record.refundedAt !== null, license.refundedAt !== null),
    describe('revoked', record.revokedAt !== null, license.revokedAt !== null),
    describe('canceled', record.canceledAt !== null, license.canceledAt !== null),
    describe('paused', record.pausedAt !== null, license.pausedAt !== null),
  ].filter((text) => text !== null);
  return differences.length === 0 ? 'its ids at the payment provider' : differences.join(', ');
}

function describe(
  name: string,
  here: string | number | boolean,
  there: string | number | boolean,
): string | null {
  return here === there ? null : `${name} is ${here} here and ${there} there`;
}
