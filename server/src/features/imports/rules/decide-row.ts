import type { LicenseFacts } from '../../licenses/rules/facts.ts';
import type { KnownLicense } from '../facts.ts';
import { digestLicense, type PlannedLicense } from './plan-license.ts';
import type { RowOutcome } from './report.ts';
import { selectSold, type SoldCandidate, type SoldFacts } from './select-sold.ts';

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
  /** The end as it was imported before; null: perpetual, or not imported before. */
  readonly importedEnd: Date | null;
}

/** The licenses that exist already, for some rows. */
export interface ExistingLicenses {
  /** The row of an earlier import. */
  readonly findKnown: (license: EvaluatedLicense) => KnownLicense | null;
  readonly findRecord: (licenseId: string) => LicenseFacts | null;
  readonly findByKey: (license: EvaluatedLicense) => LicenseFacts | null;
  /** The licenses that payments created, or that the next payment adopts. */
  readonly listSold: (license: EvaluatedLicense) => readonly SoldCandidate[];
}

export interface RowFacts {
  /** The line of an earlier row of this import with the same id or key. */
  readonly earlier: number | null;
  readonly isWeak: boolean;
  /** The licenses to which earlier rows add their keys. */
  readonly withKey: ReadonlySet<string>;
}

const WEAK_KEY =
  'The license_key can be guessed: import it with --allow-weak-keys, or issue a new key.';

/** Decides what happens to a planned license. */
export function decideRow(
  license: EvaluatedLicense,
  existing: ExistingLicenses,
  { earlier, isWeak, withKey }: RowFacts,
): Decision {
  const none = { existing: null, isUnlisted: false, importedEnd: null };
  if (earlier !== null) {
    const problem = `Row ${earlier} has the same key or id.`;
    return { outcome: 'duplicate', problem, ...none };
  }
  const known = existing.findKnown(license);
  if (known !== null) return decideKnown(license, known, existing);
  const owner = existing.findByKey(license);
  if (owner !== null) return decideOwned(license, owner);
  if (isWeak) return { outcome: 'weak', problem: WEAK_KEY, ...none };
  const sold = existing.listSold(license).map((each) => ({
    ...each,
    hasAddedKey: each.hasAddedKey || withKey.has(each.license.id),
  }));
  const selected = selectSold(license, sold);
  if (selected !== null) return decideSold(license, selected.license);
  return { outcome: 'new', problem: null, ...none };
}

/** A license that was imported before: only a later end changes it. */
function decideKnown(
  license: EvaluatedLicense,
  known: KnownLicense,
  existing: ExistingLicenses,
): Decision {
  const record = existing.findRecord(known.licenseId);
  const facts = { existing: record, isUnlisted: false, importedEnd: known.expiresAt };
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
  const isRenewed =
    !known.isPaid &&
    !license.hasUnknownEnd &&
    isLater(license.expiresAt, known.expiresAt) &&
    isLater(license.expiresAt, record?.expiresAt ?? null);
  return { outcome: isRenewed ? 'renewed' : 'same', problem: null, ...facts };
}

/** A license from elsewhere that has the key. */
function decideOwned(license: EvaluatedLicense, owner: LicenseFacts): Decision {
  if (owner.productId === license.product.id) {
    return { outcome: 'same', problem: null, existing: owner, isUnlisted: true, importedEnd: null };
  }
  const problem = `A license of the product ${owner.productId} has the key already.`;
  return { outcome: 'conflict', problem, existing: owner, isUnlisted: false, importedEnd: null };
}

/**
 * A license of a payment that was reported here before the import: the customer's key is added to it, because both keys may be in
 * use. A key that is not usable in the source must not work here.
 */
function decideSold(license: EvaluatedLicense, sold: SoldFacts): Decision {
  const { suspendedAt, disputedAt, refundedAt, revokedAt } = license;
  const ends = [suspendedAt, disputedAt, refundedAt, revokedAt];
  if (license.licenseKey === null) {
    return { outcome: 'same', problem: null, existing: sold, isUnlisted: true, importedEnd: null };
  }
  if (ends.some((since) => since !== null)) {
    return {
      outcome: 'conflict',
      problem: UNUSABLE_KEY,
      existing: sold,
      isUnlisted: false,
      importedEnd: null,
    };
  }
  const problem = describeSoldDifferences(license, sold);
  return { outcome: 'key_added', problem, existing: sold, isUnlisted: true, importedEnd: null };
}

const UNUSABLE_KEY =
  'A payment that was reported here created its license, and its key is suspended, disputed, refunded or revoked there: the key does not work here.';

/** What the customer has less here than there; null: nothing. */
function describeSoldDifferences(license: EvaluatedLicense, sold: SoldFacts): string | null {
  const hasFewer = sold.maxActivations < license.maxActivations;
  const isShorter = !license.hasUnknownEnd && isLater(license.expiresAt, sold.expiresAt);
  const differences = [
    describe('product', sold.productId, license.product.id),
    hasFewer ? describe('machines', sold.maxActivations, license.maxActivations) : null,
    isShorter ? describe('end', toDay(sold.expiresAt), toDay(license.expiresAt)) : null,
  ].filter((text) => text !== null);
  if (differences.length === 0) return null;
  return `Its license was created here by a payment, and now has the key, too, but differs: ${differences.join(', ')}. If the customer lacks something, change the license.`;
}

function toDay(end: Date | null): string {
  return end === null ? 'never' : end.toISOString().slice(0, 10);
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
