import { createHash } from 'node:crypto';

import { MAX_MACHINES, parseEmail, type PaymentProvider } from '@latchkey/contract';

import type { Catalog, Product } from '#server/config/catalog-model.ts';
import { MAX_LICENSE_KEY_CHARACTERS, readLicenseKey } from '#server/lib/license-key.ts';
import { cutText, emptyToNull } from '#server/lib/text.ts';

import type { ForeignDevice, ForeignLicense, ForeignProduct } from '../facts.ts';
import { findProduct, type ProductMapping } from './map-product.ts';

const DAY_MS = 86_400_000;

/** How long a subscription whose source does not say until when it is paid is taken as paid. */
const UNKNOWN_PERIOD_DAYS = 31;

const MAX_TEXT_CHARACTERS = 1_000;
const MAX_ID_CHARACTERS = 500;
const MAX_DETAILS = 30;

/** Devices of one license; more are counted only. */
const MAX_DEVICES = 1_000;

/** A long number as a spreadsheet saves it, such as `1,23457E+19`: its last digits are lost. */
const SHORTENED_NUMBER = /^\d(?:[.,]\d{1,14})?E\+\d{1,3}$/iu;

export interface PlanRules {
  readonly catalog: Catalog;
  readonly mapping: ProductMapping;
  readonly now: Date;
}

/** A seat that a license used in its source; null: only the number is known. */
export type PlannedSeat = ForeignDevice | null;

/** A license to create. */
export interface PlannedLicense {
  readonly sourceId: string | null;
  readonly licenseKey: string | null;
  readonly product: Product;
  readonly customerEmail: string | null;
  readonly customerName: string | null;
  readonly maxActivations: number;
  /** Null: perpetual. */
  readonly expiresAt: Date | null;
  readonly updatesUntil: ForeignLicense['updatesUntil'];
  /** Whether the source does not say when it ends. */
  readonly hasUnknownEnd: boolean;
  readonly subscription: boolean;
  readonly cancelScheduledFor: Date | null;
  readonly canceledAt: Date | null;
  readonly pausedAt: Date | null;
  readonly suspendedAt: Date | null;
  readonly disputedAt: Date | null;
  readonly refundedAt: Date | null;
  readonly revokedAt: Date | null;
  readonly provider: PaymentProvider | null;
  readonly transactionId: string | null;
  readonly subscriptionId: string | null;
  readonly note: string | null;
  readonly seats: readonly PlannedSeat[];
  readonly createdAt: Date | null;
  readonly details: Readonly<Record<string, string>>;
}

/** The plan for a license of another system. Reasons are sentences without keys and addresses. */
export type LicensePlan =
  | { readonly kind: 'license'; readonly license: PlannedLicense }
  | { readonly kind: 'bad'; readonly problem: string }
  | { readonly kind: 'skipped'; readonly problem: string }
  | { readonly kind: 'unknown_product'; readonly products: readonly ForeignProduct[] };

/** Plans the license to create for one of another system, by the catalogue and the mapping of products. */
export function planLicense(foreign: ForeignLicense, rules: PlanRules): LicensePlan {
  if (foreign.isTest) return { kind: 'skipped', problem: 'The license belongs to a test mode.' };
  const problem = findProblem(foreign, rules.catalog);
  if (problem !== null) return { kind: 'bad', problem };
  const product = findProduct(foreign, rules.mapping, rules.catalog);
  if (product === null) return { kind: 'unknown_product', products: foreign.products };
  return { kind: 'license', license: toPlanned(foreign, product, rules.now) };
}

function findProblem(foreign: ForeignLicense, { keyPrefix }: Catalog): string | null {
  const { licenseKey, customerEmail, quantity, maxActivations } = foreign;
  const keyProblem = licenseKey === null ? null : findKeyProblem(licenseKey, keyPrefix);
  if (keyProblem !== null) return keyProblem;
  if (customerEmail !== null && !('email' in parseEmail(customerEmail))) {
    return 'The address of the customer is not an e-mail address.';
  }
  for (const count of [quantity, maxActivations]) {
    const isCount = count === null || count === 'unlimited' || isWholeNumber(count);
    if (!isCount) return `The number of machines is not a whole number from 1 to ${MAX_MACHINES}.`;
  }
  const { sourceId, transactionId, subscriptionId } = foreign;
  const ids = [sourceId, transactionId, subscriptionId, ...foreign.devices.map(({ id }) => id)];
  const isLong = ids.some((id) => (id?.length ?? 0) > MAX_ID_CHARACTERS);
  return isLong ? `An id has more than ${MAX_ID_CHARACTERS} characters.` : null;
}

/** Returns why a key cannot be imported; null when it can. */
function findKeyProblem(licenseKey: string, keyPrefix: string): string | null {
  if (licenseKey.length > MAX_LICENSE_KEY_CHARACTERS) {
    return `The key has ${licenseKey.length} characters; a license key has at most ${MAX_LICENSE_KEY_CHARACTERS}. Send the customer a new key.`;
  }
  if (/\p{Cc}/u.test(licenseKey) || !licenseKey.isWellFormed()) {
    return 'The key has several lines or invalid characters.';
  }
  if (licenseKey.trim() === '') return 'The key is empty.';
  if (SHORTENED_NUMBER.test(licenseKey.trim())) {
    return 'The key is a number that a spreadsheet shortened: export the keys again, and do not save the file in the spreadsheet.';
  }
  if (readLicenseKey(licenseKey, keyPrefix).kind !== 'mistyped') return null;
  return 'The key has the prefix of the catalogue and a wrong checksum: if another system issued it with your prefix, set another key_prefix in the catalogue before the import.';
}

function isWholeNumber(count: number): boolean {
  return Number.isInteger(count) && count >= 1 && count <= MAX_MACHINES;
}

function toPlanned(foreign: ForeignLicense, product: Product, now: Date): PlannedLicense {
  const { licenseKey, customerEmail, status, isSubscription } = foreign;
  const email = customerEmail === null ? null : parseEmail(customerEmail);
  const since = foreign.statusSince ?? now;
  return {
    sourceId: foreign.sourceId,
    licenseKey: licenseKey?.trim() ?? null,
    product,
    customerEmail: email !== null && 'email' in email ? email.email : null,
    customerName: cleanText(foreign.customerName),
    maxActivations: countMachines(foreign, product),
    expiresAt: findEnd(foreign, product, now),
    updatesUntil: foreign.updatesUntil,
    hasUnknownEnd: foreign.expiresAt === 'unknown' && (isSubscription || hasTerm(product)),
    subscription: isSubscription,
    cancelScheduledFor: foreign.cancelScheduledFor,
    canceledAt: status === 'canceled' ? since : null,
    pausedAt: status === 'paused' ? since : null,
    suspendedAt: status === 'suspended' ? since : null,
    disputedAt: status === 'disputed' ? since : null,
    refundedAt: status === 'refunded' ? since : null,
    revokedAt: status === 'revoked' ? since : null,
    provider: foreign.provider,
    transactionId: foreign.transactionId,
    subscriptionId: foreign.subscriptionId,
    note: cleanText(foreign.note),
    seats: planSeats(foreign),
    createdAt: foreign.createdAt,
    details: cutDetails(foreign.details),
  };
}

function hasTerm({ durationDays }: Product): boolean {
  return durationDays !== null;
}

function countMachines({ maxActivations, quantity }: ForeignLicense, product: Product): number {
  if (maxActivations === 'unlimited') return MAX_MACHINES;
  return Math.min(maxActivations ?? product.maxActivations * quantity, MAX_MACHINES);
}

function findEnd(
  { expiresAt, isSubscription, createdAt }: ForeignLicense,
  { durationDays }: Product,
  now: Date,
): Date | null {
  if (expiresAt !== 'unknown') return expiresAt;
  if (isSubscription) return new Date(now.getTime() + UNKNOWN_PERIOD_DAYS * DAY_MS);
  if (durationDays === null) return null;
  return new Date((createdAt ?? now).getTime() + durationDays * DAY_MS);
}

/** Returns the known devices, and a seat without a device for each further one that the source counts. */
function planSeats({ devices, usedSeats }: ForeignLicense): PlannedSeat[] {
  const known = devices.slice(0, MAX_DEVICES).map(({ id, label, lastSeenAt }) => ({
    id,
    label: cleanText(label),
    lastSeenAt,
  }));
  const others = Math.min(usedSeats, MAX_DEVICES) - known.length;
  return [...known, ...Array<null>(Math.max(0, others)).fill(null)];
}

/** Returns a text on one line, cut to its limit; null when it is empty. */
function cleanText(text: string | null): string | null {
  const line = (text ?? '').toWellFormed().replaceAll(/\p{Cc}/gu, ' ');
  return emptyToNull(cutText(line, MAX_TEXT_CHARACTERS));
}

function cutDetails(details: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(details).slice(0, MAX_DETAILS);
  return Object.fromEntries(
    entries.flatMap(([name, value]) => {
      const text = cleanText(value);
      return text === null ? [] : [[cutText(name, MAX_ID_CHARACTERS), text]];
    }),
  );
}

/**
 * Returns a digest of the values that an import sets, so that a repeated import finds a changed license. Without the end, which
 * a renewal in the source moves, and without what a digest could reveal: the key and the customer.
 */
export function digestLicense(license: PlannedLicense): string {
  const { canceledAt, pausedAt, suspendedAt, disputedAt, refundedAt, revokedAt } = license;
  const statuses = [canceledAt, pausedAt, suspendedAt, disputedAt, refundedAt, revokedAt];
  const content = [
    license.product.id,
    license.maxActivations,
    license.subscription,
    ...statuses.map((since) => since !== null),
    license.provider,
    license.transactionId,
    license.subscriptionId,
  ];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
