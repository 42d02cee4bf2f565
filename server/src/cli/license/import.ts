/** `latchkey license import`: licenses from a file. */
import { IMPORT_FORMATS } from '#server/features/licenses/import-file.ts';
import {
  importAll,
  type ImportProblem,
  type ImportTally,
} from '#server/features/licenses/import-all.ts';
import { importLicenses, previewImport } from '#server/features/licenses/import.ts';
import { MIN_KEY_BITS } from '#server/lib/key-strength.ts';
import { countOf } from '#server/lib/text.ts';

import { currentActor } from '../actor.ts';
import { command } from '../command.ts';
import { shortText } from '../options.ts';
import { printNote, withProgress } from '../output.ts';
import { anyText, argument, choice, flag, option } from '../parameters.ts';
import { withContext } from '../with-context.ts';
import { requireProduct } from './argument.ts';
import { guessFormat, readRecordsOf } from './open-import.ts';

export const importCommand = command({
  name: 'import',
  description: `Import licenses with the keys of another system. Keys that already exist are skipped, so an import can be repeated.

Columns (CSV with a header, or one JSON object on each line): license_key, product, customer_email, customer_name, transaction_id, subscription_id, provider, max_activations, expires_at, subscription, status, note. Only license_key is required. An empty expires_at means perpetual; without that column the term of the product starts now. A subscription (true or false) has a grace period after its expiry. transaction_id and subscription_id are ids at the payment provider (paddle, stripe, lemonsqueezy, standard): its next event adopts the license.`,
  examples: {
    'license import keys.csv --product personal --dry-run': 'Validate a file',
    'license import - --format jsonl < keys.jsonl': 'Import the output of another program',
  },
  parameters: [
    argument('<file>', '.csv or .jsonl file; - reads standard input', anyText),
    option('--product <id>', 'product of records without one', shortText),
    choice('--format <format>', 'format of the file (default: by its name)', IMPORT_FORMATS),
    option('--reason <text>', 'reason for the audit log (default: import of <file>)', shortText),
    flag('--dry-run', 'validate every record without importing it'),
    flag(
      '--allow-weak-keys',
      `import keys that can be guessed: those with less than ${MIN_KEY_BITS} bits of entropy`,
    ),
  ],
  run({ file: path, product, format, reason, dryRun, allowWeakKeys }) {
    const sourceFormat = format ?? guessFormat(path);
    const source = path === '-' ? 'standard input' : path;
    const change = {
      actor: currentActor(),
      reason: reason ?? `import of ${source}`,
      allowWeakKeys,
    };
    const apply = dryRun ? previewImport : importLicenses;
    return withContext(async (context) => {
      const defaultProduct = product === null ? null : requireProduct(context, product);
      const rules = { catalog: context.catalog(), defaultProduct };
      const records = readRecordsOf(path, sourceFormat);
      const tally = await withProgress('licenses', (report) =>
        importAll(records, rules, (batch) => apply(context, batch, change), {
          onProgress: report,
          onProblem: printProblem,
        }),
      );
      return {
        json: { dry_run: dryRun, ...tally },
        text: formatTally(tally, dryRun ? 'Would import' : 'Imported'),
        failed: tally.failed > 0,
      };
    });
  },
});

function printProblem({ line, problem }: ImportProblem): void {
  printNote(`line ${line}: ${problem}`);
}

function formatTally({ created, present, failed, problems }: ImportTally, verb: string): string {
  const summary = `${verb} ${created}, skipped ${present} existing, rejected ${failed}.`;
  const hidden = failed - problems.length;
  return hidden > 0 ? `${summary}\n${countOf(hidden, 'further problem')} not shown.` : summary;
}
