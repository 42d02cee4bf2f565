/** `latchkey suppression`: addresses that get no newsletter and no outreach. */
import { suppressionSource } from '#server/features/suppressions/list-suppressions.ts';
import { liftManually, suppressManually } from '#server/features/suppressions/manual-changes.ts';

import { currentActor } from './actor.ts';
import { commandGroup } from './command.ts';
import { failed } from './command-error.ts';
import { addressArgument, limitOption, requiredReasonOption } from './options.ts';
import { formatRows } from './table.ts';
import { contextCommand } from './with-context.ts';

/** Enough to distinguish addresses. */
const SHOWN_DIGITS = 12;

const NEWEST = { sort: 'suppressed_at', descending: true, after: null };

const listCommand = contextCommand({
  name: 'list',
  description:
    'List suppressed addresses by their HMAC, newest first. The addresses themselves are not stored.',
  examples: {
    'suppression list': 'Suppressions with their reason and date',
    'subscriber show ada@example.com': 'Whether one address is suppressed',
  },
  parameters: [limitOption(50)],
  async run(context, { limit }) {
    const read = suppressionSource(context).read({}, context.clock.now());
    const { rows } = await read({ ...NEWEST, limit });
    const json = rows.map(({ addressHash, reason, suppressedAt }) => ({
      address_hash: addressHash,
      reason,
      suppressed_at: suppressedAt,
    }));
    const text = formatRows(json, 'No suppressed addresses.', [
      ['address hash', (row) => `${row.address_hash.slice(0, SHOWN_DIGITS)}…`],
      ['reason', (row) => row.reason],
      ['since', (row) => row.suppressed_at],
    ]);
    return { json, text };
  },
});

const addCommand = contextCommand({
  name: 'add',
  description:
    'Suppress newsletter and outreach to an address. E-mails with purchased keys are still sent.',
  examples: {
    'suppression add ada@example.com --reason "asked by phone"':
      'When the owner of an address wants no mail',
  },
  parameters: [addressArgument, requiredReasonOption],
  async run(context, { address: email, reason }) {
    await suppressManually(context, { email, actor: currentActor(), reason });
    return { json: { suppressed: true }, text: 'The address is suppressed.' };
  },
});

const removeCommand = contextCommand({
  name: 'remove',
  description: 'Allow mail to a suppressed address again.',
  examples: {
    'suppression remove ada@example.com --reason "asked for it"':
      'Only at the request of the owner of the address',
  },
  parameters: [addressArgument, requiredReasonOption],
  async run(context, { address: email, reason }) {
    const lifted = await liftManually(context, { email, actor: currentActor(), reason });
    if (!lifted) throw failed('The address is not suppressed.');
    return { json: { suppressed: false }, text: 'The address is not suppressed any more.' };
  },
});

export const suppressionCommand = commandGroup(
  'suppression',
  'Manage the addresses that get no newsletter and no outreach.',
  [listCommand, addCommand, removeCommand],
);
