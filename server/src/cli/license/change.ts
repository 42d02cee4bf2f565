/** `latchkey license extend`, `updates`, `limit`, `allow-move`, `owner`, `suspend`, `reinstate` and `revoke`. */
import { MAX_MACHINES } from '@latchkey/contract';

import type { Context } from '#server/context.ts';
import { reinstateAndSend } from '#server/features/billing/reinstate-license.ts';
import {
  allowMoves,
  changeMachineLimit,
  changeUpdates,
  extendLicense,
  type Extension,
  type ManualChange,
  revokeLicense,
  suspendLicense,
} from '#server/features/licenses/change-license.ts';
import { changeOwner } from '#server/features/licenses/change-owner.ts';
import type { LicenseRecord } from '#server/features/licenses/queries/licenses.ts';

import { currentActor } from '../actor.ts';
import { command, type Help, type Result } from '../command.ts';
import { usageError } from '../command-error.ts';
import {
  emailAddress,
  MAX_DAYS,
  orEmpty,
  requiredReasonOption,
  shortText,
  timestamp,
  wholeNumber,
} from '../options.ts';
import { printNote } from '../output.ts';
import { option } from '../parameters.ts';
import { formatFields } from '../table.ts';
import { withContext } from '../with-context.ts';
import { licenseArgument, readLicenseName } from './argument.ts';
import { toLicenseFields, toLicenseJson, viewLicense } from './view.ts';

type Change = (context: Context, change: ManualChange) => Promise<LicenseRecord>;

/** Changes the named license and prints it. */
async function runChange(name: string, reason: string, change: Change): Promise<Result> {
  const keyOrId = await readLicenseName(name);
  return withContext(async (context) => {
    const license = await change(context, { keyOrId, reason, actor: currentActor() });
    const viewed = viewLicense(license, context.clock.now());
    return { json: toLicenseJson(viewed), text: formatFields(toLicenseFields(viewed)) };
  });
}

export const extendCommand = command({
  name: 'extend',
  description: 'Change the expiry of a license, by days or to a date.',
  examples: {
    'license extend LK-… --days 30 --reason "outage in May"': 'Thirty more days',
    'license extend LK-… --until 2028-01-01 --reason "renewed by invoice"': 'A new expiry',
  },
  parameters: [
    licenseArgument,
    option(
      '--days <n>',
      'days to add to the expiry, or to now if the license has expired',
      wholeNumber(1, MAX_DAYS),
    ),
    option('--until <time>', 'new expiry date or date-time in UTC, or "never"', readUntil),
    requiredReasonOption,
  ],
  run({ license: name, days, until, reason }) {
    const extension = days === null ? until : { days };
    if (extension === null || (days !== null && until !== null)) {
      throw usageError('Use either --days or --until.');
    }
    return runChange(name, reason, async (context, change) => {
      const license = await extendLicense(context, change, extension);
      if (days !== null && license.expiresAt === null) {
        printNote('The license is perpetual and stays perpetual; --until sets an expiry.');
      }
      return license;
    });
  },
});

export const updatesCommand = command({
  name: 'updates',
  description:
    'Change until when a license gets new versions, by days or to a date. Renewals extend from there.',
  examples: {
    'license updates LK-… --days 365 --reason "renewed by invoice"': 'A year more',
    'license updates LK-… --until 2028-01-01 --reason "agreed by phone"': 'A new end',
  },
  parameters: [
    licenseArgument,
    option(
      '--days <n>',
      'days to add to the end of updates, or to now if that has passed',
      wholeNumber(1, MAX_DAYS),
    ),
    option(
      '--until <time>',
      'new end of updates, a date or date-time in UTC, or "never" for all updates',
      readUntil,
    ),
    requiredReasonOption,
  ],
  run({ license: name, days, until, reason }) {
    const extension = days === null ? until : { days };
    if (extension === null || (days !== null && until !== null)) {
      throw usageError('Use either --days or --until.');
    }
    return runChange(name, reason, async (context, change) => {
      const license = await changeUpdates(context, change, extension);
      if (days !== null && license.updatesUntil === null) {
        printNote('The license gets all updates; --until sets an end.');
      }
      return license;
    });
  },
});

/** Wrapped, because null means that the option is not given. */
function readUntil(text: string): Extension {
  return { until: text === 'never' ? null : timestamp(text) };
}

export const limitCommand = command({
  name: 'limit',
  description:
    'Change how many machines a license allows. Machines beyond a lower limit stay active; payments do not go below it.',
  examples: {
    'license limit LK-… --max-activations 5 --reason "bought a bundle"': 'Five machines',
  },
  parameters: [
    licenseArgument,
    option('--max-activations <n>', 'number of machines', wholeNumber(1, MAX_MACHINES)).required(),
    requiredReasonOption,
  ],
  run: ({ license, maxActivations, reason }) =>
    runChange(license, reason, (context, change) =>
      changeMachineLimit(context, change, maxActivations),
    ),
});

export const ownerCommand = command({
  name: 'owner',
  description:
    'Change the customer or the note of a license. Payments do not change the customer after that.',
  examples: {
    'license owner LK-… --email bob@example.com --name Bob --reason "sold to Bob"':
      'Another customer',
    'license owner LK-… --note "" --reason "obsolete"': 'Remove the note',
  },
  parameters: [
    licenseArgument,
    option(
      '--email <address>',
      'e-mail address of the customer, "" removes it',
      orEmpty(emailAddress),
    ),
    option('--name <name>', 'name of the customer, "" removes it', orEmpty(shortText)),
    option('--note <text>', 'note for operators, "" removes it', orEmpty(shortText)),
    requiredReasonOption,
  ],
  run({ license, email, name, note, reason }) {
    if (email === null && name === null && note === null) {
      throw usageError('Give --email, --name or --note.');
    }
    const owner = {
      customerEmail: email ?? undefined,
      customerName: name ?? undefined,
      note: note ?? undefined,
    };
    return runChange(license, reason, (context, change) => changeOwner(context, change, owner));
  },
});

export const allowMoveCommand = command({
  name: 'allow-move',
  description: 'Allow activations beyond the move limit of a license (409 move_limit_reached).',
  examples: {
    'license allow-move LK-… --reason "laptop was stolen"': 'One more machine',
    'license allow-move LK-… --count 5 --reason "new classroom"': 'Five more machines',
  },
  parameters: [
    licenseArgument,
    option('--count <n>', 'number of additional moves', wholeNumber(1, 1_000)).default(1),
    requiredReasonOption,
  ],
  run: ({ license, count, reason }) =>
    runChange(license, reason, (context, change) => allowMoves(context, change, count)),
});

function changeCommand(help: Help, change: Change) {
  return command({
    ...help,
    parameters: [licenseArgument, requiredReasonOption],
    run: ({ license, reason }) => runChange(license, reason, change),
  });
}

export const suspendCommand = changeCommand(
  {
    name: 'suspend',
    description: 'Suspend a license until it is reinstated.',
    examples: { 'license suspend LK-… --reason "chargeback"': 'Until a dispute is settled' },
  },
  suspendLicense,
);

export const reinstateCommand = changeCommand(
  {
    name: 'reinstate',
    description:
      'Reinstate a license that was suspended, revoked or disputed. An e-mail with its key that was held back is sent.',
    examples: {
      'license reinstate LK-… --reason "chargeback withdrawn"': 'After a dispute was settled',
    },
  },
  reinstateAndSend,
);

export const revokeCommand = changeCommand(
  {
    name: 'revoke',
    description: 'Revoke a license. It is invalid until it is reinstated.',
    examples: { 'license revoke LK-… --reason "key published"': 'When a key leaked' },
  },
  revokeLicense,
);
