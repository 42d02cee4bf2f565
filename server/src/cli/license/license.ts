import { Command } from 'commander';

import type { Product } from '#server/config/catalog.ts';
import type { Context } from '#server/context.ts';
import { type IssuedLicense, issueLicense } from '#server/features/licenses/issue.ts';

import { currentActor } from '../actor.ts';
import { usageError } from '../command-error.ts';
import { requireProduct } from './argument.ts';
import {
  emailAddress,
  jsonOption,
  moment,
  shortText,
  wholeNumber,
  withExamples,
} from '../options.ts';
import { formatFields, type OutputOptions, paint, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';
import {
  licenseAllowMoveCommand,
  licenseExtendCommand,
  licenseReinstateCommand,
  licenseRevokeCommand,
  licenseSuspendCommand,
} from './change.ts';
import { licenseImportCommand } from './import.ts';
import { licenseRekeyCommand } from './rekey.ts';
import { licenseListCommand, licenseShowCommand } from './show.ts';
import { toLicenseFields, toLicenseJson, viewLicense } from './view.ts';

/** `latchkey license …` */
export function licenseCommand(): Command {
  return new Command('license')
    .description('Make, show and change licenses.')
    .addCommand(licenseIssueCommand())
    .addCommand(licenseListCommand())
    .addCommand(licenseShowCommand())
    .addCommand(licenseExtendCommand())
    .addCommand(licenseAllowMoveCommand())
    .addCommand(licenseSuspendCommand())
    .addCommand(licenseReinstateCommand())
    .addCommand(licenseRevokeCommand())
    .addCommand(licenseRekeyCommand())
    .addCommand(licenseImportCommand());
}

interface IssueOptions extends OutputOptions {
  readonly product: string;
  readonly email?: string;
  readonly name?: string;
  readonly transaction?: string;
  readonly maxActivations?: number;
  readonly expires?: Date;
  readonly days?: number;
  readonly note?: string;
  readonly reason?: string;
  readonly count?: number;
}

const DAY_MS = 86_400_000;

function licenseIssueCommand(): Command {
  const command = new Command('issue')
    .description('Make a license and print its key.')
    .requiredOption('--product <id>', 'the product, as the catalogue names it', shortText)
    .option('--email <address>', "the customer's address", emailAddress)
    .option('--name <name>', "the customer's name", shortText)
    .option('--transaction <id>', 'the checkout that it belongs to', shortText)
    .option('--max-activations <n>', "machines; default: the product's", wholeNumber(1, 1_000_000))
    .option('--expires <date>', "its end; default: the product's term", moment)
    .option('--days <n>', 'its end, in days from now', wholeNumber(1, 36_500))
    .option('--note <text>', 'a note for yourself', shortText)
    .option('--reason <text>', 'why, for the audit log', shortText)
    .option('--count <n>', 'make several', wholeNumber(1, 10_000))
    .addOption(jsonOption())
    .action(issue);
  return withExamples(command, [
    [
      'license issue --product personal --email ann@example.com',
      'A license with the terms of its product',
    ],
    ['license issue --product personal --days 30 --note "press"', 'One that ends in 30 days'],
    ['license issue --product personal --count 100 --json', 'A hundred keys, for a program'],
  ]);
}

async function issue(options: IssueOptions): Promise<void> {
  if (options.expires !== undefined && options.days !== undefined) {
    throw usageError('--expires and --days both say when it ends: give one of them.');
  }
  await withContext(async (ctx) => {
    const product = requireProduct(ctx, options.product);
    const made: IssuedLicense[] = [];
    try {
      for (let index = 0; index < (options.count ?? 1); index += 1) {
        made.push(await issueOne(ctx, product, options));
      }
    } finally {
      // Even when one of them failed: the keys of those made before would otherwise have to be looked up by their ids.
      if (made.length > 0) printIssued(ctx, made, options);
    }
  });
}

function issueOne(ctx: Context, product: Product, options: IssueOptions): Promise<IssuedLicense> {
  const { email, name, transaction, maxActivations, days, note, reason } = options;
  const now = ctx.clock.now().getTime();
  const expiresAt = days === undefined ? options.expires : new Date(now + days * DAY_MS);
  const order = {
    product,
    customerEmail: email ?? null,
    customerName: name ?? null,
    transactionId: transaction ?? null,
    note: note ?? null,
    ...(maxActivations === undefined ? {} : { maxActivations }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
  return issueLicense(ctx, order, currentActor(), reason ?? null);
}

function printIssued(ctx: Context, made: readonly IssuedLicense[], options: IssueOptions): void {
  const now = ctx.clock.now();
  const items = made.map(({ license, licenseKey }) => ({
    license_key: licenseKey,
    ...toLicenseJson(viewLicense(license, now)),
  }));
  const single = options.count === undefined;
  printResult(options, single ? items[0] : items, () =>
    single
      ? made.map((issued) => describeIssued(ctx, issued)).join('')
      : made.map(({ licenseKey }) => licenseKey).join('\n'),
  );
}

function describeIssued(ctx: Context, { license, licenseKey }: IssuedLicense): string {
  const fields = toLicenseFields(viewLicense(license, ctx.clock.now()));
  const body = JSON.stringify({
    license_key: licenseKey,
    machine_fingerprint: { machine_id: 'my-machine' },
  });
  return `${paint('bold', licenseKey)}

${formatFields(fields.filter(([name]) => name !== 'key'))}

Activate it on a machine:
  curl ${ctx.config.http.publicUrl}/api/v1/licenses/activate \\
    -H 'content-type: application/json' \\
    -d '${body}'`;
}
