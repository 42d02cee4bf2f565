/** `latchkey signing-key`: keys that sign entitlements. */
import {
  revokeSigningKey,
  rotateSigningKey,
} from '#server/features/entitlements/rotate-signing-key.ts';
import { viewSigningKeys } from '#server/features/entitlements/view-signing-keys.ts';
import { formatTimestamp } from '#server/lib/text.ts';

import { currentActor } from './actor.ts';
import { commandGroup } from './command.ts';
import { failed } from './command-error.ts';
import { requiredReasonOption } from './options.ts';
import { anyText, argument, flag } from './parameters.ts';
import { formatRows } from './table.ts';
import { contextCommand } from './with-context.ts';

const listCommand = contextCommand({
  name: 'list',
  description: 'List the keys that sign entitlements, with their state.',
  examples: { 'signing-key list': 'The key that signs now, and the keys that signed before' },
  async run(context) {
    const keys = (await viewSigningKeys(context)).map(({ record, state }) => ({
      kid: record.kid,
      state,
      active_from: record.activeFrom,
      retired_at: record.retiredAt,
      created_at: record.createdAt,
    }));
    const empty = 'No signing keys. The first start of the service creates one.';
    const text = formatRows(keys, empty, [
      ['key', (key) => key.kid],
      ['state', (key) => key.state],
      ['signs from', (key) => key.active_from],
      ['created', (key) => key.created_at],
    ]);
    return { json: keys, text };
  },
});

const rotateCommand = contextCommand({
  name: 'rotate',
  description:
    'Create a new key to sign entitlements with. It is published at once and signs a little later, so that every client can fetch it first. Older keys stay published until their last token expires.',
  examples: {
    'signing-key rotate --reason "yearly"': 'Routine rotation',
    'signing-key rotate --immediately --reason "backup stolen"': 'Emergency rotation',
  },
  parameters: [
    flag('--immediately', 'sign with the new key at once, when the old one leaked'),
    requiredReasonOption,
  ],
  async run(context, { immediately, reason }) {
    const change = { actor: currentActor(), reason };
    const { kid, activeFrom } = await rotateSigningKey(context, { immediately }, change);
    return {
      json: { kid, active_from: activeFrom },
      text: `${kid} signs from ${formatTimestamp(activeFrom)}.`,
    };
  },
});

const revokeCommand = contextCommand({
  name: 'revoke',
  description:
    'Remove a retired key that leaked from the key set. Clients then refuse tokens that it signed.',
  examples: {
    'signing-key revoke kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k --reason "backup stolen"':
      'After signing-key rotate --immediately',
  },
  parameters: [
    argument('<kid>', 'id of the key, from signing-key list', anyText),
    requiredReasonOption,
  ],
  async run(context, { kid, reason }) {
    if (!(await revokeSigningKey(context, kid, { actor: currentActor(), reason }))) {
      throw failed(
        `${kid} is not a retired key. latchkey signing-key list shows the keys; replace a key that signs with latchkey signing-key rotate --immediately first.`,
      );
    }
    return {
      json: { kid, revoked: true },
      text: `Revoked ${kid}. Every process removes it within a minute, clients within five.`,
    };
  },
});

export const signingKeyCommand = commandGroup(
  'signing-key',
  'List, rotate and revoke the keys that sign entitlements.',
  [listCommand, rotateCommand, revokeCommand],
);
