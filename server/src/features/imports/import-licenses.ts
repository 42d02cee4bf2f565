import { v7 as makeUuid } from 'uuid';

import { isUniqueViolation } from '#server/db/database-errors.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { isBillingLockTimeout, lockBilling } from '../billing/queries/ledger.ts';
import type { ImportDependencies } from './dependencies.ts';
import {
  evaluateBatch,
  rememberRows,
  type BatchOptions,
  type EvaluatedRow,
  type SeenRows,
} from './evaluate-batch.ts';
import type { ForeignRow, ImportSource } from './facts.ts';
import { finishImport, insertImport } from './queries/imports.ts';
import type { ProductMapping } from './rules/map-product.ts';
import { ReportBuilder, type ImportReport, type RowProblem } from './rules/report.ts';
import { storeBatch } from './store-batch.ts';

/** Licenses in one transaction. */
const BATCH_ROWS = 200;

/** The keys of all rows are remembered, in about 300 bytes each. */
const MAX_IMPORT_ROWS = 500_000;

/** How often a batch is evaluated because another process created one of its licenses at the same time, or holds the lock of billing. */
const MAX_ATTEMPTS = 5;

/** An import, or its rehearsal. */
export interface ImportRequest {
  readonly source: ImportSource;
  /** The name of the file or of the interface that is read. */
  readonly origin: string;
  readonly mapping: ProductMapping;
  readonly actor: string;
  readonly reason: string | null;
  /** Whether to report only, without storing anything. */
  readonly dryRun: boolean;
  /** Default: keys that can be guessed are refused. */
  readonly allowWeakKeys?: boolean;
  /** Whether to e-mail the customers of new usable licenses their keys. Default: false. */
  readonly sendKeys?: boolean;
}

/** Called while an import runs. */
export interface ImportObserver {
  readonly onProgress?: (rows: number) => void;
  readonly onProblem?: (problem: RowProblem) => void;
}

/** The result of an import. */
export interface ImportResult {
  /** Null for a rehearsal. */
  readonly importId: string | null;
  readonly report: ImportReport;
}

/** A source with more rows than an import can have; the message is a sentence for the operator. */
export class TooManyRowsError extends Error {
  constructor() {
    super(`An import has at most ${MAX_IMPORT_ROWS} rows: split the file.`);
    this.name = 'TooManyRowsError';
  }
}

/**
 * Imports licenses from another system, in batches of one transaction each, so that an interrupted import can be repeated: a
 * license is imported once for each source and id. No e-mail is sent unless asked. The rehearsal reports the same
 * outcomes.
 * @throws TooManyRowsError; the rows before are imported
 */
export async function importLicenses(
  deps: ImportDependencies,
  rows: AsyncIterable<ForeignRow> | Iterable<ForeignRow>,
  request: ImportRequest,
  observer: ImportObserver = {},
): Promise<ImportResult> {
  const importId = request.dryRun ? null : await startImport(deps, request);
  const report = new ReportBuilder(request.source);
  const seen: SeenRows = new Map();
  for await (const batch of toBatches(rows)) {
    if (report.rows + batch.length > MAX_IMPORT_ROWS) throw new TooManyRowsError();
    const evaluated = await runBatch(deps, batch, request, importId, seen);
    rememberRows(evaluated, seen);
    for (const row of evaluated) {
      const problem = addRow(report, row);
      if (problem !== null) observer.onProblem?.(problem);
    }
    observer.onProgress?.(report.rows);
  }
  const result = report.build(deps.catalog());
  if (importId !== null) await endImport(deps, importId, request, result);
  return { importId, report: result };
}

async function* toBatches(
  rows: AsyncIterable<ForeignRow> | Iterable<ForeignRow>,
): AsyncGenerator<readonly ForeignRow[]> {
  let batch: ForeignRow[] = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length < BATCH_ROWS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function runBatch(
  deps: ImportDependencies,
  rows: readonly ForeignRow[],
  request: ImportRequest,
  importId: string | null,
  seen: SeenRows,
): Promise<EvaluatedRow[]> {
  const { source, mapping, allowWeakKeys = false, sendKeys = false } = request;
  const rules = { catalog: deps.catalog(), mapping, now: deps.clock.now() };
  const options: BatchOptions = { source, rules, allowWeakKeys };
  if (importId === null) return evaluateBatch(deps, deps.pool, rows, options, seen);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await inTransaction(deps.pool, async (client) => {
        // Otherwise a payment could create the license of a row at the same time.
        if (rows.some(isNamedByPayment)) await lockBilling(client);
        const evaluated = await evaluateBatch(deps, client, rows, options, seen);
        await storeBatch(deps, client, evaluated, { importId, source, sendKeys });
        return evaluated;
      });
    } catch (error) {
      const isRetried = isUniqueViolation(error) || isBillingLockTimeout(error);
      if (attempt === MAX_ATTEMPTS || !isRetried) throw error;
    }
  }
}

function isNamedByPayment(row: ForeignRow): boolean {
  if (!('license' in row)) return false;
  const { subscriptionId, transactionId } = row.license;
  return subscriptionId !== null || transactionId !== null;
}

function addRow(report: ReportBuilder, row: EvaluatedRow): RowProblem | null {
  const { line, outcome, problem, license, unknownProducts } = row;
  const [unknown] = unknownProducts;
  const isRepeated =
    outcome === 'unknown_product' && unknown !== undefined && !report.addUnknownProduct(unknown);
  if (outcome === 'new' && license !== null) {
    report.addProduct(license.product.id);
    addNotes(report, license);
  }
  return report.add(line, outcome, isRepeated ? null : problem);
}

function addNotes(report: ReportBuilder, license: NonNullable<EvaluatedRow['license']>): void {
  if (license.customerEmail === null) report.addNote('without_address');
  if (license.licenseKey === null) report.addNote('with_generated_key');
  if (license.hasUnknownEnd) report.addNote('with_unknown_end');
  if (license.seats.length > license.maxActivations) report.addNote('more_devices_than_allowed');
  if (license.seats.length > 0) report.addNote('seats', license.seats.length);
  const { suspendedAt, disputedAt, refundedAt, revokedAt, canceledAt, pausedAt } = license;
  const ends = [suspendedAt, disputedAt, refundedAt, revokedAt, canceledAt, pausedAt];
  if (ends.some((since) => since !== null)) report.addNote('not_usable');
}

async function startImport(
  deps: ImportDependencies,
  { source, origin, actor, reason, sendKeys = false, allowWeakKeys = false }: ImportRequest,
): Promise<string> {
  const id = makeUuid();
  const startedAt = deps.clock.now();
  await inTransaction(deps.pool, async (client) => {
    await insertImport(client, { id, source, origin, actor, reason, startedAt });
    const details = { source, origin, send_keys: sendKeys, allow_weak_keys: allowWeakKeys };
    const entry = { occurredAt: startedAt, actor, reason, subjectId: id, details };
    await insertAuditEntry(client, { ...entry, action: 'license.import' });
  });
  return id;
}

async function endImport(
  deps: ImportDependencies,
  id: string,
  { actor, reason }: ImportRequest,
  report: ImportReport,
): Promise<void> {
  const now = deps.clock.now();
  await inTransaction(deps.pool, async (client) => {
    await finishImport(client, id, now, report);
    const details = { rows: report.rows, ...report.outcomes };
    const entry = { occurredAt: now, actor, reason, subjectId: id, details };
    await insertAuditEntry(client, { ...entry, action: 'license.import_finished' });
  });
}
