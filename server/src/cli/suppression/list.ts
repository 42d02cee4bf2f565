import { Command } from 'commander';
import { listNewestSuppressions } from '#server/features/suppressions/queries.ts';
import { jsonOption, limitOption, withExamples } from '../option-values.ts';
import { type OutputOptions, formatTable, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';

interface ListOptions extends OutputOptions {
  readonly limit: number;
}

const DEFAULT_LIMIT = 50;

/** Enough to tell addresses apart. */
const SHOWN_DIGITS = 12;

export function suppressionListCommand(): Command {
  const command = new Command('list')
    .description(
      'List the addresses that get no mail, the newest first, by their HMAC: the addresses are not kept.',
    )
    .addOption(limitOption(DEFAULT_LIMIT))
    .addOption(jsonOption())
    .action(list);
  return withExamples(command, [
    ['suppression list', 'How many, since when and why'],
    ['subscriber show ada@example.com', 'Whether one address is among them'],
  ]);
}

async function list(options: ListOptions): Promise<void> {
  await withContext(async (ctx) => {
    const found = await listNewestSuppressions(ctx.pool, options.limit);
    const json = found.map(({ addressHash, reason, suppressedAt }) => ({
      address_hash: addressHash,
      reason,
      suppressed_at: suppressedAt,
    }));
    printResult(options, json, () =>
      found.length === 0
        ? 'No address is kept from mail.'
        : formatTable(
            ['address', 'because', 'since'],
            found.map(({ addressHash, reason, suppressedAt }) => [
              `${addressHash.slice(0, SHOWN_DIGITS)}…`,
              reason,
              suppressedAt,
            ]),
          ),
    );
  });
}
