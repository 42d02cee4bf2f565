import { Command, Option } from 'commander';

import { type ImportRules, parseImportRecord } from '#server/features/licenses/import-record.ts';
import {
  importLicenses,
  type ImportedLicense,
  type ImportOutcome,
  previewImport,
} from '#server/features/licenses/import.ts';
import { MIN_KEY_BITS } from '#server/lib/key-strength.ts';

import { commandProcess } from '../command-process.ts';
import { currentActor } from '../actor.ts';
import { jsonOption, shortText, withExamples } from '../options.ts';
import { type OutputOptions, printNote, printResult, withProgress } from '../output.ts';
import { withContext } from '../with-context.ts';
import {
  guessFormat,
  type ImportFormat,
  openSource,
  readRecords,
  type SourceRecord,
} from './import-file.ts';
import { requireProduct } from './argument.ts';

interface ImportOptions extends OutputOptions {
  readonly product?: string;
  readonly format?: ImportFormat;
  readonly dryRun?: boolean;
  readonly allowWeakKeys?: boolean;
  readonly reason?: string;
}

/** Licenses per transaction. */
const BATCH_ROWS = 200;

/** How many problems are told one by one; the others are only counted. */
const MAX_TOLD_PROBLEMS = 100;

interface Tally {
  created: number;
  present: number;
  failed: number;
  readonly problems: { line: number; problem: string }[];
}

export function licenseImportCommand(): Command {
  const command = new Command('import')
    .summary('Make licenses of keys that were made elsewhere.')
    .description(
      `Make licenses of keys that were made elsewhere. A key that is known already is left alone, so an import may be run again.

Columns (CSV with a header, or one JSON object per line): license_key, product, customer_email, customer_name,
transaction_id, max_activations, expires_at, subscription, status, note. Only license_key must be there. An empty expires_at is for ever;
without that column the product's own term begins now. A subscription (true or false) has days of grace after its end.`,
    )
    .argument('<file>', 'a .csv or .jsonl file; - reads standard input')
    .option('--product <id>', 'the product of records that name none', shortText)
    .addOption(new Option('--format <format>', 'default: by the name').choices(['csv', 'jsonl']))
    .option('--reason <text>', 'why, for the audit log; default: import of <file>', shortText)
    .option('--dry-run', 'check everything and change nothing')
    .option(
      '--allow-weak-keys',
      `import keys that can be guessed too: those with less than ${MIN_KEY_BITS} secret bits`,
    )
    .addOption(jsonOption())
    .action(runImport);
  return withExamples(command, [
    ['license import keys.csv --product personal --dry-run', 'What would happen'],
    ['license import - --format jsonl < keys.jsonl', 'From another program'],
  ]);
}

async function runImport(path: string, options: ImportOptions): Promise<void> {
  const format = options.format ?? guessFormat(path);
  await withContext(async (ctx) => {
    const catalog = ctx.catalog();
    const defaultProduct =
      options.product === undefined ? null : requireProduct(ctx, options.product);
    const apply = options.dryRun === true ? previewImport : importLicenses;
    const reason = options.reason ?? `import of ${path === '-' ? 'standard input' : path}`;
    const { allowWeakKeys = false } = options;
    const change = { actor: currentActor(), reason, allowWeakKeys };
    const records = readRecords(openSource(path), format);
    const tally = await withProgress('licenses', (report) =>
      importAll(
        records,
        { catalog, defaultProduct },
        (orders) => apply(ctx, orders, change),
        report,
      ),
    );
    printTally(tally, options);
    if (tally.failed > 0) commandProcess().exitCode = 1;
  });
}

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
      if (outcome === 'weak') noteProblem(tally, orders[index]?.line ?? 0, WEAK_KEY);
      else tally[outcome] += 1;
    }
    orders = [];
    report(tally.created + tally.present + tally.failed);
  };
  for await (const { line, record } of records) {
    const parsed = record === null ? unreadable : parseImportRecord(record, rules);
    if ('problem' in parsed) noteProblem(tally, line, parsed.problem);
    else orders.push({ ...parsed.license, line });
    if (orders.length === BATCH_ROWS) await flush();
  }
  await flush();
  return tally;
}

const WEAK_KEY =
  'The license_key is short or regular enough to be guessed; import it with --allow-weak-keys, or issue a new key.';

const unreadable = { problem: 'The line does not have the form of the others.' };

function noteProblem(tally: Tally, line: number, problem: string): void {
  tally.failed += 1;
  if (tally.failed > MAX_TOLD_PROBLEMS) return;
  tally.problems.push({ line, problem });
  printNote(`line ${line}: ${problem}`);
}

function printTally(tally: Tally, options: ImportOptions): void {
  const dryRun = options.dryRun === true;
  printResult(options, { dry_run: dryRun, ...tally }, () => {
    const untold = tally.failed - tally.problems.length;
    return [
      `${tally.created} ${dryRun ? 'would be made' : 'made'}, ${tally.present} there already, ${tally.failed} wrong.`,
      ...(untold > 0 ? [`${untold} wrong ones were not told one by one.`] : []),
    ].join('\n');
  });
}
