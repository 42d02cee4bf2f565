/** `latchkey license`: licenses. This file issues them. */
import { MAX_MACHINES } from '@latchkey/contract';

import type { Context } from '#server/context.ts';
import { type IssuedLicense, issueLicenses } from '#server/features/licenses/issue.ts';

import { currentActor } from '../actor.ts';
import { commandGroup, type Result } from '../command.ts';
import { importCommand } from '../import/import.ts';
import {
  DAY_MS,
  emailAddress,
  expiryOptions,
  reasonOption,
  shortText,
  timestamp,
  wholeNumber,
} from '../options.ts';
import { paint } from '../output.ts';
import { option } from '../parameters.ts';
import { formatFields } from '../table.ts';
import { contextCommand } from '../with-context.ts';
import { requireProduct } from './argument.ts';
import {
  allowMoveCommand,
  extendCommand,
  limitCommand,
  ownerCommand,
  reinstateCommand,
  revokeCommand,
  suspendCommand,
  updatesCommand,
} from './change.ts';
import { freeMachineCommand } from './free-machine.ts';
import { rekeyCommand } from './rekey.ts';
import { listCommand, showCommand } from './show.ts';
import { toLicenseFields, toLicenseJson, viewLicense } from './view.ts';

/** One transaction issues them, and blocks the audit log for a part of it: 3 s for a thousand on two busy cores. */
const MAX_ISSUED = 1_000;

const issueCommand = contextCommand({
  name: 'issue',
  description: 'Issue a license and print its key.',
  examples: {
    'license issue --product personal --email ann@example.com':
      'A license with the terms of its product',
    'license issue --product personal --days 30 --note "press"': 'A license for 30 days',
    'license issue --product personal --count 100 --json': 'A hundred licenses, as JSON',
  },
  parameters: [
    option('--product <id>', 'id of a product in the catalogue', shortText).required(),
    option('--email <address>', 'e-mail address of the customer', emailAddress),
    option('--name <name>', 'name of the customer', shortText),
    option('--transaction <id>', 'transaction id of the checkout', shortText),
    option(
      '--max-activations <n>',
      'number of machines (default: of the product)',
      wholeNumber(1, MAX_MACHINES),
    ),
    ...expiryOptions('term of the product'),
    option(
      '--updates-until <time>',
      'end of updates, a date or date-time in UTC (default: days of updates of the product)',
      timestamp,
    ),
    option('--note <text>', 'note for operators', shortText),
    reasonOption,
    option(
      '--count <n>',
      'number of licenses to issue, all or none; prints only their keys (default: 1)',
      wholeNumber(1, MAX_ISSUED),
    ),
  ],
  async run(context, { count, reason, ...options }) {
    const { maxActivations, expires, days, updatesUntil } = options;
    const now = context.clock.now().getTime();
    const expiresAt = days === null ? expires : new Date(now + days * DAY_MS);
    const newLicense = {
      product: requireProduct(context, options.product),
      customerEmail: options.email,
      customerName: options.name,
      transactionId: options.transaction,
      note: options.note,
      ...(maxActivations === null ? {} : { maxActivations }),
      ...(expiresAt === null ? {} : { expiresAt }),
      ...(updatesUntil === null ? {} : { updatesUntil }),
    };
    const change = { actor: currentActor(), reason };
    const issued = await issueLicenses(context, newLicense, count ?? 1, change);
    return describeIssued(context, issued, count === null);
  },
});

function describeIssued(
  context: Context,
  issued: readonly IssuedLicense[],
  single: boolean,
): Result {
  const now = context.clock.now();
  const items = issued.map(({ license, licenseKey }) => ({
    license_key: licenseKey,
    ...toLicenseJson(viewLicense(license, now)),
  }));
  return {
    json: single ? items[0] : items,
    text: issued.map((each) => (single ? formatIssued(context, each) : each.licenseKey)).join('\n'),
  };
}

function formatIssued(context: Context, { license, licenseKey }: IssuedLicense): string {
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

export const licenseCommand = commandGroup('license', 'Issue, list and change licenses.', [
  issueCommand,
  importCommand,
  listCommand,
  showCommand,
  extendCommand,
  updatesCommand,
  limitCommand,
  allowMoveCommand,
  ownerCommand,
  freeMachineCommand,
  suspendCommand,
  reinstateCommand,
  revokeCommand,
  rekeyCommand,
]);
