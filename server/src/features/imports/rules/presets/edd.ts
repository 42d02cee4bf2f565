import { UNKNOWN_LICENSE, type ForeignLicense, type ForeignStatus } from '../../facts.ts';
import {
  joinName,
  pickDetails,
  readCount,
  readDate,
  readLimit,
  readText,
  type SourceRecord,
} from '../read-values.ts';
import type { Preset, RelatedFact, RelatedRecords } from './preset.ts';

/**
 * Licenses of EDD Software Licensing: the answers of `edd_action=check_license`, or the tables `edd_licenses`,
 * `edd_license_activations` and `edd_customers` of its database, as a table or JSON.
 * https://easydigitaldownloads.com/docs/software-licensing-api/
 */
export const edd: Preset = {
  columns: ['status'],
  read(record, related) {
    const licenseKey = readText(record, 'license_key', 'key') ?? readAnsweredKey(record);
    if (licenseKey === null) return null;
    return { license: toLicense(record, licenseKey, related) };
  },
  relate(record) {
    if ('site_name' in record) return toDevice(record);
    return 'email' in record && !('license_key' in record) ? toCustomer(record) : null;
  },
};

const STATUSES: Readonly<Record<string, ForeignStatus>> = {
  disabled: 'suspended',
  revoked: 'revoked',
};

/** In an answer, `license` may be the status instead of the key. */
function readAnsweredKey(record: SourceRecord): string | null {
  const text = readText(record, 'license');
  return text !== null && /^[\da-f]{32}$/iu.test(text) ? text : null;
}

function toLicense(
  record: SourceRecord,
  licenseKey: string,
  related: RelatedRecords,
): ForeignLicense {
  const id = readText(record, 'id', 'license_id');
  const customer = readText(record, 'customer_id');
  const product = readText(record, 'download_id', 'item_id');
  const price = readText(record, 'price_id');
  const name = readText(record, 'item_name', 'product_name');
  const products = product === null ? [] : [{ id: product, name }];
  return {
    ...UNKNOWN_LICENSE,
    sourceId: id,
    licenseKey,
    customerEmail: readText(record, 'customer_email', 'email'),
    customerName: readText(record, 'customer_name', 'name'),
    ...(customer === null ? {} : related.valuesOf(`customer:${customer}`)),
    products:
      product === null || price === null
        ? products
        : [{ id: `${product}:${price}`, name }, ...products],
    maxActivations: readMaxActivations(record),
    expiresAt: readEnd(record),
    transactionId: readText(record, 'payment_id'),
    status: STATUSES[readText(record, 'status') ?? ''] ?? 'active',
    devices: id === null ? [] : related.devicesOf(id),
    usedSeats: readCount(record, 'site_count', 'activation_count') ?? 0,
    createdAt: readDate(record, 'date_created'),
    details: pickDetails(record, ['payment_id', 'download_id', 'item_id', 'price_id']),
  };
}

/** The table has no limits: that of the product then applies. */
function readMaxActivations(record: SourceRecord): ForeignLicense['maxActivations'] {
  const names = ['license_limit', 'activation_limit'];
  return names.some((name) => name in record) ? readLimit(record, ...names) : null;
}

/** `lifetime` and 0 are perpetual. */
function readEnd(record: SourceRecord): ForeignLicense['expiresAt'] {
  const text = readText(record, 'expires', 'expiration');
  if (text === null) return 'unknown';
  if (text === 'lifetime' || text === '0') return null;
  return readDate({ expires: text }, 'expires');
}

function toDevice(record: SourceRecord): RelatedFact | null {
  const owner = readText(record, 'license_id');
  const id = readText(record, 'site_name');
  if (owner === null || id === null || readText(record, 'activated') === '0') return null;
  return { kind: 'device', owner, device: { id, label: id, lastSeenAt: null } };
}

function toCustomer(record: SourceRecord): RelatedFact {
  const owner = `customer:${readText(record, 'id') ?? ''}`;
  const customerEmail = readText(record, 'email');
  const customerName = joinName(readText(record, 'name'));
  return { kind: 'values', owner, values: { customerEmail, customerName } };
}
