/** `latchkey suppression`: addresses that get no newsletter and no outreach. */
import { Command } from 'commander';

import { liftManually, suppressManually } from '#server/features/subscribers/manual-changes.ts';
import { listNewestSuppressions } from '#server/features/suppressions/queries.ts';

import { currentActor } from './actor.ts';
import { failed } from './command-error.ts';
import {
  addressArgument,
  jsonOption,
  limitOption,
  newCommand,
  requiredReasonOption,
} from './options.ts';
import { type OutputOptions, printResult } from './output.ts';
import { formatRows } from './table.ts';
import { withContext } from './with-context.ts';

export function suppressionCommand(): Command {
  return new Command('suppression')
    .description('Manage the addresses that get no newsletter and no outreach.')
    .addCommand(listCommand())
    .addCommand(addCommand())
    .addCommand(removeCommand());
}

interface ListOptions extends OutputOptions {
  readonly limit: number;
}

const DEFAULT_LIMIT = 50;

/** Enough to tell addresses apart. */
const SHOWN_DIGITS = 12;

function listCommand(): Command {
  return newCommand(
    'list',
    'List suppressed addresses by their HMAC, newest first. The addresses themselves are not stored.',
    [
      ['suppression list', 'Suppressions with their reason and date'],
      ['subscriber show ada@example.com', 'Whether one address is suppressed'],
    ],
  )
    .addOption(limitOption(DEFAULT_LIMIT))
    .addOption(jsonOption())
    .action(list);
}

async function list(options: ListOptions): Promise<void> {
  await withContext(async (context) => {
    const found = await listNewestSuppressions(context.pool, options.limit);
    const json = found.map(({ addressHash, reason, suppressedAt }) => ({
      address_hash: addressHash,
      reason,
      suppressed_at: suppressedAt,
    }));
    printResult(options, json, () =>
      formatRows(json, 'No suppressed addresses.', [
        ['address hash', (row) => `${row.address_hash.slice(0, SHOWN_DIGITS)}…`],
        ['reason', (row) => row.reason],
        ['since', (row) => row.suppressed_at],
      ]),
    );
  });
}

interface ChangeOptions extends OutputOptions {
  readonly reason: string;
}

function addCommand(): Command {
  return newCommand(
    'add',
    'Suppress newsletter and outreach to an address. E-mails with purchased keys are still sent.',
    [
      [
        'suppression add ada@example.com --reason "asked by phone"',
        'When the owner of an address wants no mail',
      ],
    ],
  )
    .addArgument(addressArgument())
    .addOption(requiredReasonOption())
    .addOption(jsonOption())
    .action(add);
}

async function add(email: string, options: ChangeOptions): Promise<void> {
  await withContext(async (context) => {
    await suppressManually(context, { email, actor: currentActor(), reason: options.reason });
    printResult(options, { suppressed: true }, () => 'The address is suppressed.');
  });
}

function removeCommand(): Command {
  return newCommand('remove', 'Allow mail to a suppressed address again.', [
    [
      'suppression remove ada@example.com --reason "asked for it"',
      'Only at the request of the owner of the address',
    ],
  ])
    .addArgument(addressArgument())
    .addOption(requiredReasonOption())
    .addOption(jsonOption())
    .action(remove);
}

async function remove(email: string, options: ChangeOptions): Promise<void> {
  await withContext(async (context) => {
    const { reason } = options;
    const lifted = await liftManually(context, { email, actor: currentActor(), reason });
    if (!lifted) throw failed('The address is not suppressed.');
    printResult(options, { suppressed: false }, () => 'The address is not suppressed any more.');
  });
}
