/** `latchkey license`: licenses. This file issues them. */
import { Command } from 'commander';

import type { Product } from '#server/config/catalog.ts';
import type { Context } from '#server/context.ts';
import { type IssuedLicense, issueLicense } from '#server/features/licenses/issue.ts';

import { currentActor } from '../actor.ts';
import { usageError } from '../command-error.ts';
import {
  DAY_MS,
  emailAddress,
  jsonOption,
  moment,
  newCommand,
  reasonOption,
  shortText,
  wholeNumber,
} from '../options.ts';
import { type OutputOptions, paint, printResult } from '../output.ts';
import { formatFields } from '../table.ts';
import { withContext } from '../with-context.ts';
import { requireProduct } from './argument.ts';
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

export function licenseCommand(): Command {
  return new Command('license')
    .description('Issue, list, change and import licenses.')
    .addCommand(issueCommand())
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

function issueCommand(): Command {
  return newCommand('issue', 'Issue a license and print its key.', [
    [
      'license issue --product personal --email ann@example.com',
      'A license with the terms of its product',
    ],
    ['license issue --product personal --days 30 --note "press"', 'A license for 30 days'],
    ['license issue --product personal --count 100 --json', 'A hundred licenses, as JSON'],
  ])
    .requiredOption('--product <id>', 'id of a product in the catalogue', shortText)
    .option('--email <address>', 'e-mail address of the customer', emailAddress)
    .option('--name <name>', 'name of the customer', shortText)
    .option('--transaction <id>', 'transaction id of the checkout', shortText)
    .option(
      '--max-activations <n>',
      'number of machines (default: of the product)',
      wholeNumber(1, 1_000_000),
    )
    .option(
      '--expires <time>',
      'expiry date or date-time in UTC (default: term of the product)',
      moment,
    )
    .option('--days <n>', 'expiry in days from now', wholeNumber(1, 36_500))
    .option('--note <text>', 'note for operators', shortText)
    .addOption(reasonOption())
    .option('--count <n>', 'number of licenses to issue', wholeNumber(1, 10_000))
    .addOption(jsonOption())
    .action(issue);
}

async function issue(options: IssueOptions): Promise<void> {
  if (options.expires !== undefined && options.days !== undefined) {
    throw usageError('Use either --expires or --days, not both.');
  }
  await withContext(async (context) => {
    const product = requireProduct(context, options.product);
    const issued: IssuedLicense[] = [];
    try {
      for (let index = 0; index < (options.count ?? 1); index += 1) {
        issued.push(await issueOne(context, product, options));
      }
    } finally {
      // Also after an error: otherwise the keys issued so far had to be revealed one by one.
      if (issued.length > 0) printIssued(context, issued, options);
    }
  });
}

function issueOne(
  context: Context,
  product: Product,
  options: IssueOptions,
): Promise<IssuedLicense> {
  const { email, name, transaction, maxActivations, days, note, reason } = options;
  const now = context.clock.now().getTime();
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
  return issueLicense(context, order, currentActor(), reason ?? null);
}

function printIssued(
  context: Context,
  issued: readonly IssuedLicense[],
  options: IssueOptions,
): void {
  const now = context.clock.now();
  const items = issued.map(({ license, licenseKey }) => ({
    license_key: licenseKey,
    ...toLicenseJson(viewLicense(license, now)),
  }));
  const single = options.count === undefined;
  printResult(options, single ? items[0] : items, () =>
    issued.map((each) => (single ? describeIssued(context, each) : each.licenseKey)).join('\n'),
  );
}

function describeIssued(context: Context, { license, licenseKey }: IssuedLicense): string {
  const fields = toLicenseFields(viewLicense(license, context.clock.now()));
  const body = JSON.stringify({
    license_key: licenseKey,
    machine_fingerprint: { machine_id: 'my-machine' },
  });
  return `${paint('bold', licenseKey)}

${formatFields(fields)}

Activate it on a machine:
  curl ${context.config.http.publicUrl}/api/v1/licenses/activate \\
    -H 'content-type: application/json' \\
    -d '${body}'`;
}
