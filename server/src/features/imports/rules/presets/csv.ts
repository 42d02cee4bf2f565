import { PAYMENT_PROVIDERS, type PaymentProvider } from '@latchkey/contract';

import { UNKNOWN_LICENSE, type ForeignLicense, type ForeignStatus } from '../../facts.ts';
import {
  readCount,
  readDate,
  readFlag,
  readText,
  RecordProblem,
  type SourceRecord,
} from '../read-values.ts';
import { relatesNothing, type Preset } from './preset.ts';

/** The fields of a table, with their columns in an export of Latchkey. */
const CSV_FIELDS = {
  id: 'license_id',
  key: 'license_key',
  product: 'product',
  email: 'customer_email',
  name: 'customer_name',
  transaction: 'transaction_id',
  subscription_id: 'subscription_id',
  provider: 'provider',
  machines: 'max_activations',
  devices: 'devices',
  expires: 'expires_at',
  updates: 'updates_until',
  subscription: 'subscription',
  status: 'status',
  note: 'note',
  created: 'created_at',
} as const;

export type CsvField = keyof typeof CSV_FIELDS;

/** The column of each field. */
export type CsvColumns = Readonly<Record<CsvField, string>>;

/** Further columns of an export of Latchkey: true in `trial` is refused and in `is_test` left out, the others are ignored. */
const OTHER_EXPORTED_COLUMNS = ['key_hint', 'tier', 'features', 'trial', 'is_test'];

/** Assigns columns to fields. @returns a problem for a field that does not exist */
export function assignColumns(
  pairs: readonly (readonly [field: string, column: string])[],
): CsvColumns | { readonly problem: string } {
  const unknown = pairs.find(([field]) => !Object.hasOwn(CSV_FIELDS, field));
  if (unknown !== undefined) {
    const known = Object.keys(CSV_FIELDS).join(', ');
    return { problem: `There is no field ${JSON.stringify(unknown[0])}; these are: ${known}.` };
  }
  return { ...CSV_FIELDS, ...Object.fromEntries(pairs) };
}

/**
 * Returns what is wrong with the columns of a table; null when nothing is. Without assigned columns each must be one of an
 * export of Latchkey, because an unknown one is probably a field under another name.
 */
export function findColumnProblem(
  columns: readonly string[],
  assigned: CsvColumns,
  isAssigned: boolean,
): string | null {
  if (!columns.includes(assigned.key)) {
    return `The column ${JSON.stringify(assigned.key)} with the license keys is missing: name it with --columns key=….`;
  }
  if (isAssigned) {
    const missing = Object.entries(assigned).find(
      ([field, column]) =>
        !columns.includes(column) &&
        !Object.entries(CSV_FIELDS).some(
          ([known, standard]) => known === field && standard === column,
        ),
    );
    return missing === undefined ? null : `The column ${JSON.stringify(missing[1])} is missing.`;
  }
  const known = new Set<string>([...Object.values(CSV_FIELDS), ...OTHER_EXPORTED_COLUMNS]);
  const unknown = columns.find((column) => !known.has(column));
  if (unknown === undefined) return null;
  return `The column ${JSON.stringify(unknown)} is not known: name the columns to read with --columns, such as key=${assigned.key},email=${unknown}.`;
}

/** Creates the preset of tables and JSON lines with any columns; without names of columns, those of an export of Latchkey. */
export function createCsvPreset(columns: CsvColumns): Preset {
  return {
    columns: [columns.key],
    read: (record) => ({ license: toLicense(record, columns) }),
    relate: relatesNothing,
  };
}

function toLicense(record: SourceRecord, columns: CsvColumns): ForeignLicense {
  const licenseKey = readText(record, columns.key);
  if (licenseKey === null) throw new RecordProblem('The key is empty.');
  if (readFlag(record, 'trial')) {
    throw new RecordProblem(
      'A trial cannot be imported: it belongs to the machine that started it.',
    );
  }
  const isSubscription = readFlag(record, columns.subscription);
  const product = readText(record, columns.product);
  return {
    ...UNKNOWN_LICENSE,
    sourceId: readText(record, columns.id),
    licenseKey,
    customerEmail: readText(record, columns.email),
    customerName: readText(record, columns.name),
    products: product === null ? [] : [{ id: product, name: null }],
    maxActivations: readCount(record, columns.machines),
    expiresAt: columns.expires in record ? readDate(record, columns.expires) : 'unknown',
    updatesUntil: columns.updates in record ? readDate(record, columns.updates) : 'unknown',
    isSubscription,
    provider: readProvider(record, columns.provider),
    transactionId: readText(record, columns.transaction),
    subscriptionId: readText(record, columns.subscription_id),
    status: readStatus(record, columns.status, isSubscription),
    usedSeats: readCount(record, columns.devices) ?? 0,
    note: readText(record, columns.note),
    createdAt: readDate(record, columns.created),
    isTest: readFlag(record, 'is_test'),
  };
}

function readProvider(record: SourceRecord, column: string): PaymentProvider | null {
  const text = readText(record, column);
  if (text === null) return null;
  const provider = PAYMENT_PROVIDERS.find((each) => each === text);
  if (provider !== undefined) return provider;
  throw new RecordProblem(`The provider must be one of ${PAYMENT_PROVIDERS.join(', ')}.`);
}

/** These follow from the end and from being a subscription. */
const DERIVED_STATUSES = ['active', 'past_due', 'expired'];

const STORED_STATUSES: readonly ForeignStatus[] = [
  'suspended',
  'revoked',
  'refunded',
  'disputed',
  'canceled',
  'paused',
];

function readStatus(record: SourceRecord, column: string, isSubscription: boolean): ForeignStatus {
  const text = readText(record, column)?.toLowerCase() ?? 'active';
  if (text === 'past_due' && !isSubscription) {
    throw new RecordProblem(
      'Only a subscription can be past_due: set subscription to true, or import it as expired.',
    );
  }
  if (DERIVED_STATUSES.includes(text)) return 'active';
  const stored = STORED_STATUSES.find((status) => status === text);
  if (stored !== undefined) return stored;
  const known = [...DERIVED_STATUSES, ...STORED_STATUSES].join(', ');
  throw new RecordProblem(`The status ${JSON.stringify(text)} is not one of ${known}.`);
}
