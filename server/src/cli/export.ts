/** `latchkey export`: all licenses, activations or trials. */
import type { Context } from '#server/context.ts';
import type { RecordedAccess } from '#server/features/audit/record-access.ts';
import { ACTIVATION_COLUMNS } from '#server/features/licenses/export-activations.ts';
import {
  type ActivationRecord,
  listActivationsAfter,
} from '#server/features/licenses/queries/activations.ts';
import { listLicenseTransactions } from '#server/features/licenses/queries/license-transactions.ts';
import {
  type LicenseRecord,
  listLicensesAfter,
} from '#server/features/licenses/queries/licenses.ts';
import { licenseStatus, publicExpiry } from '#server/features/licenses/rules/status.ts';
import { revealOrSkip } from '#server/features/licenses/show.ts';

import { auditAccess } from './actor.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import { formatLines, formatOption, outputOption, writeExport } from './export-file.ts';
import { reasonOption } from './options.ts';
import { choiceArgument, flag } from './parameters.ts';
import { contextCommand } from './with-context.ts';

const ACTIONS = {
  licenses: 'license.export',
  activations: 'activation.export',
  trials: 'trial.export',
} as const;
const TABLES = ['licenses', 'activations', 'trials'] as const;

export const exportCommand = contextCommand({
  name: 'export',
  description:
    'Export all licenses, activations or trials, one on each line. The audit log records each export.',
  examples: {
    'export licenses --output licenses.csv':
      'For a spreadsheet; spreadsheet formulas in names are escaped',
    'export activations --format jsonl | gzip > activations.jsonl.gz': 'As a stream',
  },
  hasJson: false,
  parameters: [
    choiceArgument('<what>', 'what to export', TABLES),
    formatOption,
    outputOption,
    flag('--reveal', 'include the full license keys'),
    reasonOption,
  ],
  async run(context, { what: table, format, output, reveal, reason }) {
    const details = { format, reveal: reveal && table !== 'activations' };
    const subject = { action: ACTIONS[table], subjectId: table, reason, details };
    const access = await auditAccess(context, subject);
    await writeExport(table, output, () => {
      if (table === 'activations') {
        return formatLines(readActivations(context), ACTIVATION_COLUMNS, format);
      }
      const licenses = readLicenses(context, { trialsOnly: table === 'trials' });
      return formatLines(licenses, licenseColumns(context, reveal ? access : null), format);
    });
  },
});

type ExportedLicense = LicenseRecord & { readonly transactionId: string | null };

const PAGE_ROWS = 1_000;
const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** Reads licenses page by page, so that memory and transactions stay small. */
async function* readLicenses(
  { reports }: Context,
  options: { readonly trialsOnly: boolean },
): AsyncGenerator<ExportedLicense> {
  for (let afterId = NIL_UUID; ;) {
    const position = afterId;
    const [page, transactions] = await reports.readComplete(async (db) => {
      const found = await listLicensesAfter(db, position, { ...options, limit: PAGE_ROWS });
      const ids = found.map(({ id }) => id);
      return [found, await listLicenseTransactions(db, ids)];
    });
    for (const license of page) {
      yield { ...license, transactionId: transactions.get(license.id) ?? null };
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_ROWS) return;
    afterId = last.id;
  }
}

/** Reads activations page by page, in the order of their licenses. */
async function* readActivations({ reports }: Context): AsyncGenerator<ActivationRecord> {
  for (let after = { licenseId: NIL_UUID, id: NIL_UUID }; ;) {
    const position = after;
    const page = await reports.readComplete((db) => listActivationsAfter(db, position, PAGE_ROWS));
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_ROWS) return;
    after = { licenseId: last.licenseId, id: last.id };
  }
}

/**
 * The columns of a license. Those that an import reads have the names of its columns.
 * @param reveal the audit entry of full keys; null: without keys
 */
function licenseColumns(
  context: Context,
  reveal: RecordedAccess | null,
): CsvColumns<ExportedLicense> {
  return {
    license_id: (license) => license.id,
    ...(reveal === null
      ? {}
      : { license_key: (license) => revealOrSkip(context, license, reveal) }),
    key_hint: (license) => license.keyHint,
    product: (license) => license.productId,
    tier: (license) => license.tier,
    features: (license) => license.features.join(' '),
    status: (license) => licenseStatus(license, context.clock.now()),
    expires_at: (license) => publicExpiry(license, context.clock.now()),
    updates_until: (license) => license.updatesUntil,
    max_activations: (license) => license.maxActivations,
    trial: (license) => license.trial,
    subscription: (license) => license.subscription,
    customer_email: (license) => license.customerEmail,
    customer_name: (license) => license.customerName,
    note: (license) => license.note,
    is_test: (license) => license.isTest,
    transaction_id: (license) => license.transactionId,
    created_at: (license) => license.createdAt,
  };
}
