import { UNKNOWN_LICENSE, type ForeignLicense } from '../../facts.ts';
import {
  joinName,
  pickDetails,
  readCount,
  readDate,
  readObject,
  readObjects,
  readText,
  type SourceRecord,
} from '../read-values.ts';
import type { Preset, ReadRecord, RelatedFact, RelatedRecords } from './preset.ts';

const DAY_MS = 86_400_000;

/**
 * Licenses of License Manager for WooCommerce (`GET /wp-json/lmfwc/v2/licenses`) and of its successor Digital License
 * Manager, with the orders of WooCommerce (`GET /wp-json/wc/v3/orders`), which have the customers.
 */
export const wooCommerce: Preset = {
  columns: ['license_key'],
  read(record, related): ReadRecord {
    const licenseKey = readText(record, 'licenseKey', 'license_key');
    if (licenseKey === null) return null;
    if (readText(record, 'orderId', 'order_id') === null) {
      return { skipped: 'The key was not sold: it has no order.' };
    }
    return { license: toLicense(record, licenseKey, related) };
  },
  relate(record) {
    return 'billing' in record ? toOrder(record) : null;
  },
};

/** 1 is sold, 2 delivered, 3 active. */
const INACTIVE = '4';

function toLicense(
  record: SourceRecord,
  licenseKey: string,
  related: RelatedRecords,
): ForeignLicense {
  const product = readText(record, 'productId', 'product_id');
  const order = readText(record, 'orderId', 'order_id');
  const status = readText(record, 'status')?.toLowerCase();
  const isInactive = status === INACTIVE || status === 'inactive' || status === 'disabled';
  const values = related.valuesOf(`order:${order ?? ''}`);
  return {
    ...UNKNOWN_LICENSE,
    sourceId: readText(record, 'id'),
    licenseKey,
    products: product === null ? [] : [{ id: product, name: null }],
    // A blank limit is that of a shop that does not count activations: the limit of the product applies.
    maxActivations: readCount(record, 'timesActivatedMax', 'activations_limit') || null,
    expiresAt: readEnd(record),
    transactionId: order,
    devices: readDevices(record),
    usedSeats: readCount(record, 'timesActivated', 'times_activated') ?? 0,
    createdAt: readDate(record, 'createdAt', 'created_at'),
    details: pickDetails(record, ['orderId', 'productId', 'userId', 'order_id', 'product_id']),
    ...values,
    status: values.status ?? (isInactive ? 'suspended' : 'active'),
  };
}

/** An end, or days from the creation; neither is perpetual. */
function readEnd(record: SourceRecord): Date | null {
  const end = readDate(record, 'expiresAt', 'expires_at');
  const days = readCount(record, 'validFor', 'valid_for') ?? 0;
  const createdAt = readDate(record, 'createdAt', 'created_at');
  if (end !== null || days === 0 || createdAt === null) return end;
  return new Date(createdAt.getTime() + days * DAY_MS);
}

function readDevices(record: SourceRecord): ForeignLicense['devices'] {
  return readObjects(record, 'activationData').flatMap((activation) => {
    const id = readText(activation, 'token', 'id');
    if (id === null || readText(activation, 'deactivated_at') !== null) return [];
    const lastSeenAt = readDate(activation, 'updated_at', 'created_at');
    return [{ id, label: readText(activation, 'label'), lastSeenAt }];
  });
}

function toOrder(record: SourceRecord): RelatedFact {
  const billing = readObject(record, 'billing');
  const isRefunded = record['status'] === 'refunded';
  return {
    kind: 'values',
    owner: `order:${readText(record, 'id') ?? ''}`,
    values: {
      customerEmail: readText(billing, 'email'),
      customerName: joinName(readText(billing, 'first_name'), readText(billing, 'last_name')),
      ...(isRefunded ? { status: 'refunded' as const } : {}),
    },
  };
}
