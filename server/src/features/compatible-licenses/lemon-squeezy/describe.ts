import { createHash } from 'node:crypto';

import type { LemonSqueezyIds } from '#server/config/catalog-model.ts';

import type { LicenseRecord } from '../../licenses/queries/licenses.ts';
import type { LicenseFacts } from '../../licenses/rules/facts.ts';
import { licenseStatus, publicExpiry } from '../../licenses/rules/status.ts';
import type { InstanceRow } from '../queries/instances.ts';

/*
 * The answers of Lemon Squeezy's License API: https://docs.lemonsqueezy.com/api/license-api. Programs parse them strictly, so each
 * field is there. An id that no import kept is 0.
 */

type KeyStatus = 'inactive' | 'active' | 'expired' | 'disabled';

/** A license with what an answer says of it. */
export interface ShownLicense {
  readonly license: LicenseRecord;
  /** As the program sent it. */
  readonly key: string;
  /** Active ones, and seats of the time before an import. */
  readonly usedMachines: number;
  /** When it was created, at Lemon Squeezy if it was imported. */
  readonly createdAt: Date;
  readonly product: { readonly name: string; readonly ids: LemonSqueezyIds };
  /** Ids at Lemon Squeezy that an import kept, by the names of the answer's fields. */
  readonly foreignIds: Readonly<Record<string, string>>;
  /** Null: the answers do not show the customer. */
  readonly customer: { readonly name: string | null; readonly email: string | null } | null;
}

export const KEY_NOT_FOUND = 'license_key not found.';
export const INSTANCE_NOT_FOUND = 'license_key_instance not found.';
export const LIMIT_REACHED = 'This license key has reached the activation limit.';

/** Returns why a key cannot be used at a time; null if it can. */
export function findKeyProblem({ license }: ShownLicense, now: Date): string | null {
  const status = keyStatusOf(license, 1, now);
  return status === 'active' ? null : `This license key is ${status}.`;
}

/** Describes a license: `license_key` and `meta`. */
export function describeLicense(shown: ShownLicense, now: Date): Record<string, unknown> {
  return { license_key: describeKey(shown, now), meta: describeMeta(shown) };
}

/** Describes a machine: `instance`. */
export function describeInstance({ id, name, createdAt }: InstanceRow): Record<string, unknown> {
  return { id, name: name ?? '', created_at: formatTime(createdAt) };
}

function describeKey(shown: ShownLicense, now: Date): Record<string, unknown> {
  const { license, key, usedMachines, createdAt } = shown;
  const expiresAt = publicExpiry(license, now);
  return {
    id: numberOf(license.id),
    status: keyStatusOf(license, usedMachines, now),
    key,
    activation_limit: license.maxActivations,
    activation_usage: usedMachines,
    created_at: formatTime(createdAt),
    expires_at: expiresAt === null ? null : formatTime(expiresAt),
    test_mode: license.isTest,
  };
}

function describeMeta({ product, foreignIds, customer }: ShownLicense): Record<string, unknown> {
  const foreignId = (name: string): number => {
    const id = Number(foreignIds[name]);
    return Number.isSafeInteger(id) ? id : 0;
  };
  return {
    store_id: product.ids.storeId,
    order_id: foreignId('order_id'),
    order_item_id: foreignId('order_item_id'),
    variant_id: product.ids.variantId,
    variant_name: product.name,
    product_id: product.ids.productId,
    product_name: product.name,
    customer_id: foreignId('customer_id'),
    customer_name: customer?.name ?? '',
    customer_email: customer?.email ?? '',
  };
}

/** A canceled subscription has ended, which Lemon Squeezy calls expired. */
function keyStatusOf(license: LicenseFacts, usedMachines: number, now: Date): KeyStatus {
  const status = licenseStatus(license, now);
  if (status === 'expired' || status === 'canceled') return 'expired';
  if (status !== 'active' && status !== 'past_due') return 'disabled';
  return usedMachines === 0 ? 'inactive' : 'active';
}

const NUMBER_BYTES = 4;

/** Programs read the id as a number of 32 bits. */
function numberOf(licenseId: string): number {
  const digest = createHash('sha256').update(licenseId).digest();
  return digest.readUIntBE(0, NUMBER_BYTES) >>> 1;
}

/** With six decimals, because some programs parse exactly this form. */
function formatTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z');
}
