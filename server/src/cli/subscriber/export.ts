import { Command } from 'commander';
import { readSubscribers } from '#server/features/subscribers/list-subscribers.ts';
import type { SubscriberState } from '#server/features/subscribers/rules/state.ts';
import { type ExportOptions, formatAll, formatOption, writeExport } from '../export/lines.ts';
import { withExamples } from '../option-values.ts';
import { stateOption } from './list.ts';
import { subscriberColumns } from './view.ts';
import { withContext } from '../with-context.ts';

interface SubscriberExportOptions extends ExportOptions {
  readonly state?: SubscriberState;
}

export function subscriberExportCommand(): Command {
  const command = new Command('export')
    .description('Write all who asked for news, one per line, the newest first.')
    .addOption(stateOption())
    .addOption(formatOption())
    .option('--output <file>', 'a new file, instead of standard output')
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
  await withContext((ctx) =>
    writeExport('subscribers', options.output, () =>
      formatAll(readSubscribers(ctx, options.state), subscriberColumns, options.format),
    ),
  );
}
