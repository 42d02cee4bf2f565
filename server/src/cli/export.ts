import { Argument, Command } from 'commander';

import type { Context } from '#server/context.ts';
import type { RecordedAccess } from '#server/features/audit/record-access.ts';
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
import { revealLicenseKey } from '#server/features/licenses/show.ts';

import { auditAccess } from './actor.ts';
import {
  type Columns,
  type ExportOptions,
  formatAll,
  formatOption,
  writeExport,
} from './export-file.ts';
import { accessReasonOption, withExamples } from './options.ts';
import { withContext } from './with-context.ts';

interface SubjectOptions extends ExportOptions {
  readonly reveal?: boolean;
  readonly reason?: string;
}

const SUBJECTS = ['licenses', 'activations', 'trials'] as const;
type Subject = (typeof SUBJECTS)[number];

export function exportCommand(): Command {
  const command = new Command('export')
    .description(
      'Write all licenses, activations or trials, one per line. The audit log records each export.',
    )
    .addArgument(new Argument('<what>', 'what to write').choices(SUBJECTS))
    .addOption(formatOption())
    .option('--output <file>', 'a new file, instead of standard output')
    .option('--reveal', 'the license keys in full')
    .addOption(accessReasonOption())
    .action(runExport);
  return withExamples(command, [
    ['export licenses --output licenses.csv', 'For a spreadsheet; formulas in names are defused'],
    [
      'export activations --format jsonl | gzip > activations.jsonl.gz',
      'As a stream, however many there are',
    ],
  ]);
}

async function runExport(subject: Subject, options: SubjectOptions): Promise<void> {
  await withContext(async (ctx) => {
    const access = await auditExport(ctx, subject, options);
    await writeExport(subject, options.output, () => formatSubject(ctx, subject, options, access));
  });
}

const ACTIONS = {
  licenses: 'license.export',
  activations: 'activation.export',
  trials: 'trial.export',
} as const satisfies Record<Subject, string>;

function auditExport(
  ctx: Context,
  subject: Subject,
  { format, reveal = false, reason }: SubjectOptions,
): Promise<RecordedAccess> {
  const details = { format, reveal: reveal && subject !== 'activations' };
  return auditAccess(ctx, { action: ACTIONS[subject], subjectId: subject, reason, details });
}

function formatSubject(
  ctx: Context,
  subject: Subject,
  { format, reveal = false }: SubjectOptions,
  access: RecordedAccess,
): AsyncGenerator<string> {
  if (subject === 'activations') {
    return formatAll(readAllActivations(ctx), activationColumns, format);
  }
  const licenses = readAllLicenses(ctx, { trialsOnly: subject === 'trials' });
  return formatAll(licenses, licenseColumns(ctx, reveal ? access : null), format);
}

/** A license and the checkout that made it. */
type ExportedLicense = LicenseRecord & { readonly transactionId: string | null };

const PAGE_ROWS = 1_000;
const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** Every license, page by page, so that neither memory nor a transaction grows with the table. */
async function* readAllLicenses(
  { pool }: Pick<Context, 'pool'>,
  options: { readonly trialsOnly: boolean },
): AsyncGenerator<ExportedLicense> {
  for (let afterId = NIL_UUID; ;) {
    const page = await listLicensesAfter(pool, afterId, { ...options, limit: PAGE_ROWS });
    const transactions = await listLicenseTransactions(
      pool,
      page.map(({ id }) => id),
    );
    for (const license of page) {
      yield { ...license, transactionId: transactions.get(license.id) ?? null };
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_ROWS) return;
    afterId = last.id;
  }
}

/** Every activation, license by license, page by page. */
async function* readAllActivations({
  pool,
}: Pick<Context, 'pool'>): AsyncGenerator<ActivationRecord> {
  for (let after = { licenseId: NIL_UUID, id: NIL_UUID }; ;) {
    const page = await listActivationsAfter(pool, after, PAGE_ROWS);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_ROWS) return;
    after = { licenseId: last.licenseId, id: last.id };
  }
}

/**
 * The columns of a license. Those that an import reads have the names that it knows.
 * @param reveal the audit row of who is shown the keys in full; null: the keys are left out
 */
function licenseColumns(ctx: Context, reveal: RecordedAccess | null): Columns<ExportedLicense> {
  return {
    license_id: (license) => license.id,
    ...(reveal === null
      ? {}
      : { license_key: (license) => revealLicenseKey(ctx, license, reveal) }),
    key_hint: (license) => license.keyHint,
    product: (license) => license.productId,
    tier: (license) => license.tier,
    features: (license) => license.features.join(' '),
    status: (license) => licenseStatus(license, ctx.clock.now()),
    expires_at: (license) => publicExpiry(license, ctx.clock.now()),
    max_activations: (license) => license.maxActivations,
    trial: (license) => license.trial,
    subscription: (license) => license.subscription,
    customer_email: (license) => license.customerEmail,
    customer_name: (license) => license.customerName,
    note: (license) => license.note,
    transaction_id: (license) => license.transactionId,
    created_at: (license) => license.createdAt,
  };
}

/** The columns of an activation; the machine's fingerprint is not among them. */
const activationColumns: Columns<ActivationRecord> = {
  license_id: (activation) => activation.licenseId,
  activation_id: (activation) => activation.id,
  machine_id: (activation) => activation.machineId,
  os_version: (activation) => activation.osVersion,
  app_version: (activation) => activation.appVersion,
  is_active: (activation) => activation.deactivatedAt === null,
  activated_at: (activation) => activation.activatedAt,
  deactivated_at: (activation) => activation.deactivatedAt,
  last_validated_at: (activation) => activation.lastValidatedAt,
  validation_count: (activation) => activation.validationCount,
};
