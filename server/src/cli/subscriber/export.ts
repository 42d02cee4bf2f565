import { Command } from 'commander';
import { readSubscribers } from '#server/features/subscribers/view-subscribers.ts';
import type { SubscriberState } from '#server/features/subscribers/rules/subscription.ts';
import { auditAccess } from '../audit-access.ts';
import { type ExportOptions, formatAll, formatOption, writeExport } from '../export/lines.ts';
import { accessReasonOption, withExamples } from '../option-values.ts';
import { stateOption } from './list.ts';
import { subscriberColumns } from './view.ts';
import { withContext } from '../with-context.ts';

interface SubscriberExportOptions extends ExportOptions {
  readonly state?: SubscriberState;
  readonly reason?: string;
}

export function subscriberExportCommand(): Command {
  const command = new Command('export')
    .description(
      'Write all newsletter subscribers, one per line, newest first. The audit log records each export.',
    )
    .addOption(stateOption())
    .addOption(formatOption())
    .option('--output <file>', 'a new file, instead of standard output')
    .addOption(accessReasonOption())
    .action(runExport);
  return withExamples(command, [
    [
      'subscriber export --state confirmed --output news.csv',
      'For a newsletter; formulas in addresses are defused',
    ],
    ['subscriber export --format jsonl', 'For programs, as a stream'],
  ]);
}

async function runExport(options: SubscriberExportOptions): Promise<void> {
  const { format, output, state, reason } = options;
  const details = { format, state: state ?? null };
  await withContext(async (ctx) => {
    const access = { action: 'subscriber.export', subjectId: 'subscribers', reason, details };
    await auditAccess(ctx, access);
    await writeExport('subscribers', output, () =>
      formatAll(readSubscribers(ctx, state), subscriberColumns, format),
    );
  });
}
