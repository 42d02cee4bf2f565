/** `latchkey import` and `latchkey license import`: licenses of other systems. */
import { FILE_SOURCES } from '#server/features/imports/files/read-file.ts';
import { ApiImportError } from '#server/features/imports/import-from-api.ts';
import { TooManyRowsError } from '#server/features/imports/import-licenses.ts';
import { MappingError, readMapping } from '#server/features/imports/rules/map-product.ts';
import { API_SOURCES } from '#server/features/imports/provider-api/api-sources.ts';
import type { RowProblem } from '#server/features/imports/rules/report.ts';
import type { Context } from '#server/context.ts';
import { MIN_KEY_BITS } from '#server/lib/key-strength.ts';
import { countOf } from '#server/lib/text.ts';

import { currentActor } from '../actor.ts';
import { failed, usageError } from '../command-error.ts';
import { command } from '../command.ts';
import { shortText } from '../options.ts';
import { printNote, withProgress } from '../output.ts';
import { anyText, choice, flag, option, optionalArgument } from '../parameters.ts';
import { cleanText } from '../terminal-text.ts';
import { withContext } from '../with-context.ts';
import { apiAddress } from './api-account.ts';
import { formatReport, hasFailures } from './format-report.ts';
import { openSource } from './open-source.ts';
import { pairs, readPairsFile, type Pair } from './pairs.ts';

const DESCRIPTION = `Import licenses from another system, with their keys, devices and ends. Try it with --dry-run first: the report says for each row what would happen.

A license is imported once for each source and id, so that an import can be repeated; a later end in the source extends the license. No e-mail is sent unless you ask with --send-keys. latchkey imports undo removes the licenses of an import that were not used yet.

Sources: keygen, lemonsqueezy (JSON of the interface), cryptlex, edd, woocommerce (JSON or a table), gumroad, paddle-classic (tables), and csv: a table or JSON lines with the columns of latchkey export licenses, or with those that you name with --columns. Tables may be separated by commas, semicolons or tabs, in UTF-8 or UTF-16.

Without a file, the running subscriptions of an account at stripe, paddle, lemonsqueezy, polar or fastspring are read by its API, and the license keys of lemonsqueezy and polar. The key may be restricted to reading; docs/moving.md names its permissions.

Fields for --columns: key, id, product, email, name, machines, devices (how many are in use), expires, updates (the end of updates), subscription (true or false), status, transaction, subscription_id, provider, note, created. Without a column of ends, the term of the product applies; an empty end means perpetual. transaction and subscription_id are ids at the payment provider: its next event adopts the license.`;

const SOURCES = [...new Set([...FILE_SOURCES, ...API_SOURCES])];

export const importCommand = command({
  name: 'import',
  description: DESCRIPTION,
  examples: {
    'import --from gumroad sales.csv --map "abcde=personal" --dry-run':
      'Show what an import of sales of Gumroad would do',
    'import --from keygen licenses.json --related machines.json --map-file products.txt':
      'Import licenses of Keygen with their machines',
    'import --from stripe --key-file stripe.key --dry-run':
      'Show what an import of running subscriptions of Stripe would do',
    'import keys.csv --columns key=License,email=Mail --product personal':
      'Import a table of your own',
  },
  parameters: [
    optionalArgument(
      '[file]',
      'file of the source; - reads standard input, where it is read once; without it, the API is read',
      anyText,
    ),
    choice('--from <source>', 'system that the licenses come from (default: csv)', SOURCES),
    option(
      '--key-file <file>',
      'file with the key of the account at the API; - reads standard input',
      anyText,
    ),
    option('--api-url <url>', "address of the API (default: the provider's)", apiAddress),
    option(
      '--related <file>',
      'further file of the same source with devices, customers or orders; may be repeated',
      appendText,
    ),
    option('--columns <pairs>', 'columns of csv by field: key=License,email=Mail', pairs),
    option(
      '--map <pairs>',
      'products by id or name in the source: OLD=PRODUCT,…; may be repeated',
      pairs,
    ),
    option('--map-file <file>', 'file with OLD=PRODUCT on each line', anyText),
    option('--product <id>', 'product of rows whose product is not mapped', shortText),
    option('--reason <text>', 'reason for the audit log (default: import of <file>)', shortText),
    flag('--dry-run', 'report what would happen, without importing'),
    flag('--send-keys', 'e-mail the customers of new usable licenses their keys'),
    flag(
      '--allow-weak-keys',
      `import keys that can be guessed: those with less than ${MIN_KEY_BITS} bits of entropy`,
    ),
  ],
  async run({ map, mapFile, product, reason, from, ...flags }) {
    const source = await openSource({ ...flags, from: from ?? 'csv' });
    return withContext(async (context) => {
      const request = {
        mapping: await openMapping(context, { map, mapFile, product }),
        actor: currentActor(),
        reason: reason ?? `import of ${source.origin}`,
        dryRun: flags.dryRun,
        sendKeys: flags.sendKeys,
        allowWeakKeys: flags.allowWeakKeys,
      };
      requireMail(context, flags);
      const { importId, report } = await withProgress('rows', (onProgress) =>
        source.run(context, request, { onProgress, onProblem: printProblem }),
      ).catch(explainFailure);
      const hidden = report.further_problems;
      return {
        json: { import_id: importId, dry_run: flags.dryRun, ...report },
        text: formatReport(report, flags.dryRun),
        note:
          [
            ...(hidden > 0 ? [`${countOf(hidden, 'further problem')} not shown.`] : []),
            ...(importId === null ? [] : [`Undo it with: latchkey imports undo ${importId}`]),
          ].join('\n') || null,
        failed: hasFailures(report),
      };
    });
  },
});

function appendText(text: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, text];
}

interface MappingOptions {
  readonly map: readonly Pair[] | null;
  readonly mapFile: string | null;
  readonly product: string | null;
}

async function openMapping(context: Context, { map, mapFile, product }: MappingOptions) {
  const listed: Pair[] = mapFile === null ? [] : [...(await readPairsFile(mapFile))];
  const otherwise: Pair[] = product === null ? [] : [['*', product]];
  try {
    return readMapping([...listed, ...(map ?? []), ...otherwise], context.catalog());
  } catch (error) {
    if (error instanceof MappingError) throw usageError(error.message);
    throw error;
  }
}

function requireMail(
  { config }: Context,
  { sendKeys, dryRun }: { readonly sendKeys: boolean; readonly dryRun: boolean },
): void {
  if (sendKeys && !dryRun && config.mail.from === null) {
    throw usageError('No mail is configured: leave out --send-keys, or set LATCHKEY_MAIL_FROM.');
  }
}

function printProblem({ line, outcome, problem }: RowProblem): void {
  printNote(cleanText(`row ${line}: ${outcome}: ${problem}`));
}

function explainFailure(error: unknown): never {
  const isExplained = error instanceof TooManyRowsError || error instanceof ApiImportError;
  if (isExplained) throw failed(error.message);
  throw error;
}
