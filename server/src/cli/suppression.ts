import { Command } from 'commander';

import { liftManually, suppressManually } from '#server/features/subscribers/manual-changes.ts';
import { listNewestSuppressions } from '#server/features/suppressions/queries.ts';

import { currentActor } from './actor.ts';
import { failed } from './command-error.ts';
import { jsonOption, limitOption, reasonOption, withExamples } from './options.ts';
import { formatTable, type OutputOptions, printResult } from './output.ts';
import { addressArgument } from './subscriber.ts';
import { withContext } from './with-context.ts';

/** `latchkey suppression …` */
export function suppressionCommand(): Command {
  return new Command('suppression')
    .description('The addresses that get no newsletter and no outreach.')
    .addCommand(suppressionListCommand())
    .addCommand(suppressionAddCommand())
    .addCommand(suppressionRemoveCommand());
}

interface ListOptions extends OutputOptions {
  readonly limit: number;
}

const DEFAULT_LIMIT = 50;

/** Enough to tell addresses apart. */
const SHOWN_DIGITS = 12;

function suppressionListCommand(): Command {
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

interface ChangeOptions extends OutputOptions {
  readonly reason: string;
}

function suppressionAddCommand(): Command {
  const command = new Command('add')
    .description('Keep newsletter and outreach from an address. What is bought is still mailed.')
    .addArgument(addressArgument())
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(add);
  return withExamples(command, [
    ['suppression add ada@example.com --reason "asked by phone"', 'For whoever wants no mail'],
  ]);
}

async function add(email: string, options: ChangeOptions): Promise<void> {
  await withContext(async (ctx) => {
    await suppressManually(ctx, { email, actor: currentActor(), reason: options.reason });
    printResult(options, { suppressed: true }, () => 'The address gets no mail any more.');
  });
}

function suppressionRemoveCommand(): Command {
  const command = new Command('remove')
    .description('Let an address have mail again, whatever kept it from it.')
    .addArgument(addressArgument())
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(remove);
  return withExamples(command, [
    ['suppression remove ada@example.com --reason "asked for it"', 'Only when its owner asks'],
  ]);
}

async function remove(email: string, options: ChangeOptions): Promise<void> {
  await withContext(async (ctx) => {
    const { reason } = options;
    const lifted = await liftManually(ctx, { email, actor: currentActor(), reason });
    if (!lifted) throw failed('Nothing keeps mail from this address.');
    printResult(options, { suppressed: false }, () => 'The address may get mail again.');
  });
}
