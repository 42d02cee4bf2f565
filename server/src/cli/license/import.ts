/** `latchkey license import`: licenses from a file. */
import { type ImportRules, parseImportRecord } from '#server/features/licenses/import-record.ts';
import {
  importLicenses,
  type ImportedLicense,
  type ImportOutcome,
  previewImport,
} from '#server/features/licenses/import.ts';
import { MIN_KEY_BITS } from '#server/lib/key-strength.ts';

import { currentActor } from '../actor.ts';
import { command } from '../command.ts';
import { shortText } from '../options.ts';
import { countOf, printNote, withProgress } from '../output.ts';
import { anyText, argument, choice, flag, option } from '../parameters.ts';
import { withContext } from '../with-context.ts';
import { requireProduct } from './argument.ts';
import {
  guessFormat,
  IMPORT_FORMATS,
  openSource,
  readRecords,
  type SourceRecord,
} from './import-file.ts';

/** Licenses in one transaction. */
const BATCH_ROWS = 200;

/** Problems that are printed; further ones are only counted. */
const MAX_SHOWN_PROBLEMS = 100;

interface Tally {
  created: number;
  present: number;
  failed: number;
  readonly problems: { line: number; problem: string }[];
}

export const importCommand = command({
  name: 'import',
  description: `Import licenses with the keys of another system. Keys that already exist are skipped, so an import can be repeated.

Columns (CSV with a header, or one JSON object on each line): license_key, product, customer_email, customer_name, transaction_id, max_activations, expires_at, subscription, status, note. Only license_key is required. An empty expires_at means perpetual; without that column the term of the product starts now. A subscription (true or false) has a grace period after its expiry.`,
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
      const records = readRecords(openSource(path), sourceFormat);
      const tally = await withProgress('licenses', (report) =>
        importAll(records, rules, (orders) => apply(context, orders, change), report),
      );
      return {
        json: { dry_run: dryRun, ...tally },
        text: formatTally(tally, dryRun ? 'Would import' : 'Imported'),
        failed: tally.failed > 0,
      };
    });
  },
});

async function importAll(
  records: AsyncIterable<SourceRecord>,
  rules: ImportRules,
  apply: (orders: readonly ImportedLicense[]) => Promise<readonly ImportOutcome[]>,
  report: (done: number) => void,
): Promise<Tally> {
  const tally: Tally = { created: 0, present: 0, failed: 0, problems: [] };
  let orders: (ImportedLicense & { readonly line: number })[] = [];
  const flush = async () => {
    for (const [index, outcome] of (await apply(orders)).entries()) {
      if (outcome === 'weak') addProblem(tally, orders[index]?.line ?? 0, WEAK_KEY);
      else tally[outcome] += 1;
    }
    orders = [];
    report(tally.created + tally.present + tally.failed);
  };
  for await (const { line, record } of records) {
    const parsed = record === null ? INVALID_RECORD : parseImportRecord(record, rules);
    if ('problem' in parsed) addProblem(tally, line, parsed.problem);
    else orders.push({ ...parsed.license, line });
    if (orders.length === BATCH_ROWS) await flush();
  }
  await flush();
  return tally;
}

const WEAK_KEY =
  'The license_key can be guessed: import it with --allow-weak-keys, or issue a new key.';

const INVALID_RECORD = { problem: 'The record does not have the columns of the header.' };

function addProblem(tally: Tally, line: number, problem: string): void {
  tally.failed += 1;
  if (tally.failed > MAX_SHOWN_PROBLEMS) return;
  tally.problems.push({ line, problem });
  printNote(`line ${line}: ${problem}`);
}

function formatTally({ created, present, failed, problems }: Tally, verb: string): string {
  const summary = `${verb} ${created}, skipped ${present} existing, rejected ${failed}.`;
  const hidden = failed - problems.length;
  return hidden > 0 ? `${summary}\n${countOf(hidden, 'further problem')} not shown.` : summary;
}
