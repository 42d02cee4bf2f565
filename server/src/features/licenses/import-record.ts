import { parseDateTime, parseEmail, PAYMENT_PROVIDERS } from '@latchkey/contract';

import type { Catalog, Product } from '#server/config/catalog.ts';
import { readLicenseKey } from '#server/lib/license-key.ts';
import type { ImportedLicense } from './import.ts';

/** A record of an import file: values by column name. */
export type ImportRecord = Readonly<Record<string, unknown>>;

export interface ImportRules {
  readonly catalog: Catalog;
  /** The product of records without one; null: each record must name its product. */
  readonly defaultProduct: Product | null;
}

/** A license to import, or the problem of its record: a sentence without the key. */
export type ParsedRecord = { readonly license: ImportedLicense } | { readonly problem: string };

const READ_COLUMNS = [
  'license_key',
  'product',
  'customer_email',
  'customer_name',
  'transaction_id',
  'subscription_id',
  'provider',
  'max_activations',
  'expires_at',
  'subscription',
  'note',
  'status',
];

/** Further columns of an export: true in `trial` is refused, the others are ignored. */
const OTHER_EXPORTED_COLUMNS = [
  'license_id',
  'key_hint',
  'tier',
  'features',
  'trial',
  'is_test',
  'created_at',
];

const KNOWN_COLUMNS = new Set([...READ_COLUMNS, ...OTHER_EXPORTED_COLUMNS]);

/**
 * Statuses that follow from the dates and from being a subscription. The import would lose any other: a revoked license
 * would be usable again.
 */
const IMPORTABLE_STATUSES = new Set(['', 'active', 'past_due', 'expired']);

const MAX_TEXT_CHARACTERS = 1_000;
const MAX_ACTIVATIONS = 1_000_000;

/** Returns the problem of a file's columns; null when there is none. */
export function findColumnProblem(columns: readonly string[]): string | null {
  const unknown = columns.filter((column) => !KNOWN_COLUMNS.has(column));
  if (unknown.length > 0) {
    return `The column ${JSON.stringify(unknown[0])} is not known; these are: ${READ_COLUMNS.join(', ')}.`;
  }
  return columns.includes('license_key') ? null : 'The column "license_key" is missing.';
}

/** Parses one record. An empty `expires_at` is perpetual; without the field, the product's term starts now. */
export function parseImportRecord(record: ImportRecord, rules: ImportRules): ParsedRecord {
  try {
    return { license: toLicense(record, rules) };
  } catch (error) {
    if (error instanceof RecordProblem) return { problem: error.message };
    throw error;
  }
}

class RecordProblem extends Error {}

function toLicense(record: ImportRecord, { catalog, defaultProduct }: ImportRules) {
  const columnProblem = findColumnProblem(Object.keys(record));
  if (columnProblem !== null) throw new RecordProblem(columnProblem);
  const subscription = readFlag(record, 'subscription');
  requireImportable(record, subscription);
  const maxActivations = readMaxActivations(record);
  return {
    licenseKey: readKey(record, catalog.keyPrefix),
    product: readProduct(record, catalog, defaultProduct),
    customerEmail: readEmail(record),
    customerName: readText(record, 'customer_name'),
    transactionId: readText(record, 'transaction_id'),
    subscriptionId: readText(record, 'subscription_id'),
    provider: readProvider(record),
    note: readText(record, 'note'),
    subscription,
    ...(maxActivations === null ? {} : { maxActivations }),
    ...('expires_at' in record ? { expiresAt: readExpiry(record) } : {}),
  };
}

/** Refuses trials, and statuses that an imported license would lose. */
function requireImportable(record: ImportRecord, subscription: boolean): void {
  const status = readText(record, 'status') ?? '';
  if (!IMPORTABLE_STATUSES.has(status)) {
    throw new RecordProblem(
      `The status ${status} cannot be imported; import it as active, then change it.`,
    );
  }
  if (status === 'past_due' && !subscription) {
    throw new RecordProblem(
      'Only a subscription can be past_due: set subscription to true, or import it as expired.',
    );
  }
  if (readFlag(record, 'trial')) {
    throw new RecordProblem(
      'A trial cannot be imported: it belongs to the machine that started it.',
    );
  }
}

function readKey(record: ImportRecord, keyPrefix: string): string {
  const key = readText(record, 'license_key');
  if (key === null) throw new RecordProblem('The license_key is empty.');
  if (readLicenseKey(key, keyPrefix).kind === 'mistyped') {
    throw new RecordProblem(
      'The license_key has a wrong checksum, or is too long: if another system issued it with the prefix of yours, set another key_prefix in the catalogue before the import.',
    );
  }
  return key;
}

function readProduct(record: ImportRecord, catalog: Catalog, fallback: Product | null): Product {
  const id = readText(record, 'product');
  const product = id === null ? fallback : catalog.products.get(id);
  if (product === null)
    throw new RecordProblem('There is no product: name one, or pass --product.');
  if (product === undefined)
    throw new RecordProblem(`The catalogue has no product ${JSON.stringify(id)}.`);
  return product;
}

function readProvider(record: ImportRecord): string | null {
  const provider = readText(record, 'provider');
  if (provider === null || PAYMENT_PROVIDERS.some((known) => known === provider)) return provider;
  throw new RecordProblem(`The provider must be one of ${PAYMENT_PROVIDERS.join(', ')}.`);
}

function readEmail(record: ImportRecord): string | null {
  const text = readText(record, 'customer_email');
  if (text === null) return null;
  const parsed = parseEmail(text);
  if ('email' in parsed) return parsed.email;
  throw new RecordProblem('The customer_email is not an e-mail address.');
}

function readMaxActivations(record: ImportRecord): number | null {
  const text = readText(record, 'max_activations');
  if (text === null) return null;
  const value = /^\d{1,7}$/u.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= MAX_ACTIVATIONS) return value;
  throw new RecordProblem(`max_activations must be a whole number from 1 to ${MAX_ACTIVATIONS}.`);
}

function readExpiry(record: ImportRecord): Date | null {
  const text = readText(record, 'expires_at');
  if (text === null) return null;
  const expiresAt = parseDateTime(/^\d{4}-\d{2}-\d{2}$/u.test(text) ? `${text}T00:00:00Z` : text);
  if (expiresAt !== undefined) return expiresAt;
  throw new RecordProblem('expires_at must be a date such as 2027-01-01 or 2027-01-01T12:00:00Z.');
}

/** Reads a boolean field; false when it is absent, null or empty. */
function readFlag(record: ImportRecord, name: string): boolean {
  const value = record[name];
  const text = typeof value === 'boolean' ? String(value) : (readText(record, name) ?? 'false');
  if (text === 'true' || text === 'false') return text === 'true';
  throw new RecordProblem(`${name} must be true or false.`);
}

/** Reads a text field, trimmed; null when it is absent, null or empty. */
function readText(record: ImportRecord, name: string): string | null {
  const value = record[name] ?? '';
  if (typeof value !== 'string' && typeof value !== 'number') {
    throw new RecordProblem(`${name} must be text.`);
  }
  const text = String(value).trim();
  if (text.length > MAX_TEXT_CHARACTERS || /\p{Cc}/u.test(text) || !text.isWellFormed()) {
    throw new RecordProblem(
      `${name} must be one line of at most ${MAX_TEXT_CHARACTERS} characters.`,
    );
  }
  return text === '' ? null : text;
}
