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
import type { Preset, RelatedFact, RelatedRecords } from './preset.ts';

const SECOND_MS = 1_000;

/**
 * Licenses of Cryptlex: as its interface returns them (`GET /v3/licenses`), with its users and activations, or as a table
 * with the columns of its importer. https://github.com/cryptlex/csv-importer
 */
export const cryptlex: Preset = {
  columns: ['key'],
  read(record, related) {
    if (readText(record, 'key') === null) return null;
    return { license: toLicense(record, related) };
  },
  relate(record) {
    if ('licenseId' in record) return toDevice(record);
    return 'email' in record && !('key' in record) ? toUser(record) : null;
  },
};

function toLicense(record: SourceRecord, related: RelatedRecords): ForeignLicense {
  const id = readText(record, 'id');
  const user = readText(record, 'userId');
  const metadata = readMetadata(record);
  return {
    ...UNKNOWN_LICENSE,
    sourceId: id,
    licenseKey: readText(record, 'key'),
    ...readCustomer({ ...record, ...readObject(record, 'user') }),
    ...(user === null ? {} : related.valuesOf(`user:${user}`)),
    products: toProducts(record),
    maxActivations: readCount(record, 'allowedActivations') || null,
    expiresAt: readEnd(record),
    transactionId: readText(record, 'order_id') ?? readText(metadata, 'order_id', 'orderId'),
    subscriptionId: readText(metadata, 'subscription_id', 'subscriptionId'),
    isSubscription: readText(record, 'subscriptionInterval') !== null,
    status: readStatus(record),
    devices: id === null ? [] : related.devicesOf(id),
    usedSeats: readCount(record, 'totalActivations') ?? 0,
    note: readText(record, 'notes'),
    createdAt: readDate(record, 'createdAt'),
    details: pickDetails(record, ['productId', 'order_id']),
  };
}

function toProducts(record: SourceRecord) {
  const id = readText(record, 'productId', 'product');
  return id === null ? [] : [{ id, name: readText(readObject(record, 'product'), 'name') }];
}

function readStatus(record: SourceRecord): ForeignLicense['status'] {
  if (readText(record, 'revoked') === 'true') return 'revoked';
  return readText(record, 'suspended') === 'true' ? 'suspended' : 'active';
}

/** The interface reports the end; a table has the seconds from the creation, and 0 for a perpetual license. */
function readEnd(record: SourceRecord): ForeignLicense['expiresAt'] {
  const end = readDate(record, 'expiresAt');
  if (end !== null) return end;
  const seconds = readCount(record, 'validity');
  if (seconds === 0 || 'expiresAt' in record) return null;
  const createdAt = readDate(record, 'createdAt');
  if (seconds === null || createdAt === null) return 'unknown';
  return new Date(createdAt.getTime() + seconds * SECOND_MS);
}

function readMetadata(record: SourceRecord): SourceRecord {
  const entries = readObjects(record, 'metadata').map(({ key, value }) => [String(key), value]);
  return Object.fromEntries(entries);
}

function readCustomer(record: SourceRecord) {
  return {
    customerEmail: readText(record, 'email'),
    customerName: joinName(readText(record, 'firstName'), readText(record, 'lastName')),
  };
}

function toUser(record: SourceRecord): RelatedFact {
  const owner = `user:${readText(record, 'id') ?? ''}`;
  return { kind: 'values', owner, values: readCustomer(record) };
}

function toDevice(record: SourceRecord): RelatedFact | null {
  const owner = readText(record, 'licenseId');
  const id = readText(record, 'id');
  if (owner === null || id === null) return null;
  const label = readText(record, 'hostname', 'os');
  const lastSeenAt = readDate(record, 'lastSyncedAt', 'updatedAt', 'createdAt');
  return { kind: 'device', owner, device: { id, label, lastSeenAt } };
}
