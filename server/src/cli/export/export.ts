import { Argument, Command } from 'commander';
import type { Context } from '#server/context.ts';
import type { RecordedAccess } from '#server/features/audit/record-access.ts';
import { auditAccess } from '../audit-access.ts';
import { type ExportOptions, formatAll, formatOption, writeExport } from './lines.ts';
import { activationColumns, licenseColumns, readAllActivations, readAllLicenses } from './rows.ts';
import { accessReasonOption, withExamples } from '../option-values.ts';
import { withContext } from '../with-context.ts';

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
