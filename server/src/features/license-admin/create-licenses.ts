/** Issuing and importing licenses for operators. */
import {
  LATEST_DATE_TIME_MS,
  type ImportedLicenses,
  type IssuedLicense,
  type IssuedLicenses,
  type LicenseImport,
  type LicenseIssue,
  type LicensesIssue,
} from '@latchkey/contract';
import { setImmediate } from 'node:timers/promises';

import type { Product } from '#server/config/catalog.ts';
import { emptyToNull } from '#server/lib/text.ts';

import { queueIssuedKey } from '../key-emails/resend-license-key.ts';
import { ImportFileError } from '../imports/files/import-file-error.ts';
import { readFile } from '../imports/files/read-file.ts';
import { importLicenses } from '../imports/import-licenses.ts';
import { readMapping } from '../imports/rules/map-product.ts';
import { FAILED_OUTCOMES, type ImportReport, type RowOutcome } from '../imports/rules/report.ts';
import { issueLicense, issueLicenses, type NewLicense, PoolEmptyError } from '../licenses/issue.ts';
import { readTime, refuseField } from './change-license.ts';
import { describeLicense, type LicenseAdminDependencies } from './describe-license.ts';

const DAY_MS = 86_400_000;

/** Issues a license, and queues its e-mail if that is wanted. @throws invalidRequest, also for an empty pool */
export async function issueForOperator(
  deps: LicenseAdminDependencies,
  body: LicenseIssue,
  actor: string,
): Promise<IssuedLicense> {
  const newLicense = readNewLicense(deps, body);
  const mail = decideMail(deps, body);
  const issued = await issueLicense(
    deps,
    newLicense,
    actor,
    body.reason ?? null,
    async (db, { license }) => {
      if (mail === 'queued') await queueIssuedKey(db, license.id, license.createdAt);
    },
  ).catch(refuseEmptyPool);
  const license = await describeLicense(deps, issued.license.id);
  return { license, license_key: issued.licenseKey, mail };
}

/** Issues several licenses, all or none. @throws invalidRequest */
export async function issueManyForOperator(
  deps: LicenseAdminDependencies,
  body: LicensesIssue,
  actor: string,
): Promise<IssuedLicenses> {
  const change = { actor, reason: body.reason ?? null };
  const newLicense = readNewLicense(deps, body);
  const issued = await issueLicenses(deps, newLicense, body.count, change).catch(refuseEmptyPool);
  return {
    items: issued.map(({ license, licenseKey }) => ({
      license_id: license.id,
      license_key: licenseKey,
    })),
  };
}

function refuseEmptyPool(error: unknown): never {
  if (!(error instanceof PoolEmptyError)) throw error;
  throw refuseField('product', 'The pool of the product has too few free keys.');
}

function decideMail({ config }: LicenseAdminDependencies, body: LicenseIssue) {
  if (body.send_mail !== true) return 'not_wanted';
  if ((body.customer_email ?? null) === null) return 'no_address';
  return config.mail.from === null ? 'not_configured' : 'queued';
}

function readNewLicense(
  deps: LicenseAdminDependencies,
  body: LicenseIssue | LicensesIssue,
): NewLicense {
  const expiresAt = readEnd(body, deps.clock.now());
  const { updates_until: updates } = body;
  return {
    product: requireProduct(deps, body.product),
    customerEmail: body.customer_email ?? null,
    customerName: emptyToNull(body.customer_name),
    transactionId: emptyToNull(body.transaction_id),
    note: emptyToNull(body.note),
    ...(body.max_activations === undefined ? {} : { maxActivations: body.max_activations }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(updates === undefined
      ? {}
      : { updatesUntil: updates === null ? null : readTime('updates_until', updates) }),
  };
}

function readEnd(
  { days, expires_at: end }: LicenseIssue | LicensesIssue,
  now: Date,
): Date | null | undefined {
  if (days !== undefined && end !== undefined) {
    throw refuseField('days', 'Give either days or expires_at.');
  }
  if (days !== undefined)
    return new Date(Math.min(now.getTime() + days * DAY_MS, LATEST_DATE_TIME_MS));
  return end === undefined || end === null ? end : readTime('expires_at', end);
}

/** Returns the product of a body. @throws invalidRequest */
export function requireProduct(
  { catalog }: Pick<LicenseAdminDependencies, 'catalog'>,
  id: string,
): Product {
  const product = catalog().products.get(id);
  if (product === undefined) throw refuseField('product', 'The catalogue has no such product.');
  return product;
}

/** Imports licenses from CSV or JSON lines, or only validates them. @throws invalidRequest for text that has no licenses */
export async function importForOperator(
  deps: LicenseAdminDependencies,
  body: LicenseImport,
  actor: string,
): Promise<ImportedLicenses> {
  const { format, text } = readSource(body);
  const rows = readFile({ source: 'csv', file: () => readInParts(text), related: [], columns: [] });
  const product = body.product ?? null;
  if (product !== null) requireProduct(deps, product);
  const pairs = product === null ? [] : [['*', product] as const];
  try {
    const { report } = await importLicenses(deps, rows, {
      source: 'csv',
      origin: 'operator interface',
      mapping: readMapping(pairs, deps.catalog()),
      actor,
      reason: body.reason ?? 'import in the console',
      dryRun: body.dry_run,
      allowWeakKeys: body.allow_weak_keys === true,
    });
    return { dry_run: body.dry_run, ...describeReport(report) };
  } catch (error) {
    if (error instanceof ImportFileError) throw refuseField(format, error.message);
    throw error;
  }
}

/** Problems that an answer lists. */
const MAX_PROBLEMS = 100;

function describeReport({ outcomes, problems }: ImportReport): Omit<ImportedLicenses, 'dry_run'> {
  const failed: readonly RowOutcome[] = FAILED_OUTCOMES.filter(
    (outcome) => outcome !== 'duplicate',
  );
  return {
    created: outcomes.new,
    present: outcomes.same + outcomes.renewed + outcomes.duplicate,
    failed: failed.reduce((sum, outcome) => sum + outcomes[outcome], 0),
    problems: problems
      .filter(({ outcome }) => failed.includes(outcome))
      .slice(0, MAX_PROBLEMS)
      .map(({ line, problem }) => ({ line, problem })),
  };
}

/** The records of a part take some 20 ms; those of the longest text would hold the event loop for 300 ms. */
const PART_BYTES = 65_536;

/** Yields a text in parts, between which other requests are served. */
async function* readInParts(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += PART_BYTES) {
    yield bytes.subarray(start, start + PART_BYTES);
    await setImmediate();
  }
}

function readSource({ csv, jsonl }: LicenseImport): {
  readonly format: 'csv' | 'jsonl';
  readonly text: string;
} {
  if (csv !== undefined && jsonl === undefined) return { format: 'csv', text: csv };
  if (jsonl !== undefined && csv === undefined) return { format: 'jsonl', text: jsonl };
  throw refuseField('csv', 'Give either csv or jsonl.');
}
