import { UNKNOWN_LICENSE, type ForeignStatus } from '../../facts.ts';
import {
  joinName,
  readCount,
  readDate,
  readObject,
  readText,
  RecordProblem,
  type SourceRecord,
} from '../read-values.ts';
import type { Preset, RelatedFact, RelatedRecords } from './preset.ts';

/**
 * Licenses of Keygen as its interface returns them (JSON:API, `GET /licenses`), with its users and machines.
 * https://keygen.sh/docs/api/licenses/
 */
export const keygen: Preset = {
  columns: null,
  read(record, related) {
    if (record['type'] !== 'licenses') return null;
    return { license: toLicense(record, related) };
  },
  relate(record) {
    if (record['type'] === 'machines') return toDevice(record);
    return record['type'] === 'users' ? toUser(record) : null;
  },
};

const STATUSES: Readonly<Record<string, ForeignStatus>> = {
  SUSPENDED: 'suspended',
  BANNED: 'suspended',
};

function toLicense(record: SourceRecord, related: RelatedRecords) {
  const attributes = readObject(record, 'attributes');
  const metadata = readObject(attributes, 'metadata');
  const id = readText(record, 'id');
  const licenseKey = readText(attributes, 'key');
  if (licenseKey === null) {
    throw new RecordProblem(
      'The export does not contain the key: Keygen stores only a hash of it. Issue a new license.',
    );
  }
  const owner = idOf(record, 'owner') ?? idOf(record, 'user');
  const isSuspended = attributes['suspended'] === true;
  return {
    ...UNKNOWN_LICENSE,
    sourceId: id,
    licenseKey,
    customerEmail: readText(metadata, 'email', 'customerEmail', 'customer_email'),
    customerName: readText(metadata, 'name', 'customerName', 'customer_name'),
    ...(owner === null ? {} : related.valuesOf(`user:${owner}`)),
    products: [idOf(record, 'policy'), idOf(record, 'product')].flatMap((product) =>
      product === null ? [] : [{ id: product, name: null }],
    ),
    maxActivations: readCount(attributes, 'maxMachines'),
    expiresAt: readDate(attributes, 'expiry'),
    transactionId: readText(metadata, 'transactionId', 'transaction_id', 'orderId', 'order_id'),
    subscriptionId: readText(metadata, 'subscriptionId', 'subscription_id'),
    status: isSuspended
      ? ('suspended' as const)
      : (STATUSES[readText(attributes, 'status') ?? ''] ?? 'active'),
    devices: id === null ? [] : related.devicesOf(id),
    note: readText(attributes, 'name'),
    createdAt: readDate(attributes, 'created'),
  };
}

function toDevice(record: SourceRecord): RelatedFact | null {
  const attributes = readObject(record, 'attributes');
  const owner = idOf(record, 'license');
  const id = readText(attributes, 'fingerprint') ?? readText(record, 'id');
  if (owner === null || id === null) return null;
  const label = readText(attributes, 'name', 'hostname');
  const lastSeenAt = readDate(attributes, 'lastHeartbeat', 'updated', 'created');
  return { kind: 'device', owner, device: { id, label, lastSeenAt } };
}

function toUser(record: SourceRecord): RelatedFact | null {
  const attributes = readObject(record, 'attributes');
  const customerEmail = readText(attributes, 'email');
  const customerName =
    readText(attributes, 'fullName') ??
    joinName(readText(attributes, 'firstName'), readText(attributes, 'lastName'));
  const owner = `user:${readText(record, 'id') ?? ''}`;
  return { kind: 'values', owner, values: { customerEmail, customerName } };
}

function idOf(record: SourceRecord, relationship: string): string | null {
  const linked = readObject(readObject(record, 'relationships'), relationship);
  return readText(readObject(linked, 'data'), 'id');
}
