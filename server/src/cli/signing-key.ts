/** `latchkey signing-key`: keys that sign entitlements. */
import { Command } from 'commander';

import { listSigningKeys, type SigningKeyRecord } from '#server/features/entitlements/queries.ts';
import {
  revokeSigningKey,
  rotateSigningKey,
} from '#server/features/entitlements/rotate-signing-key.ts';
import { findCurrentKey, openSigningKeys } from '#server/features/entitlements/signing-key.ts';

import { currentActor } from './actor.ts';
import { failed } from './command-error.ts';
import { jsonOption, newCommand, requiredReasonOption } from './options.ts';
import { type OutputOptions, printResult } from './output.ts';
import { formatMoment, formatRows } from './table.ts';
import { withContext } from './with-context.ts';

export function signingKeyCommand(): Command {
  return new Command('signing-key')
    .description('List, rotate and revoke the keys that sign entitlements.')
    .addCommand(listCommand())
    .addCommand(rotateCommand())
    .addCommand(revokeCommand());
}

function listCommand(): Command {
  return newCommand('list', 'List the keys that sign entitlements, with their state.', [
    ['signing-key list', 'The key that signs now, and the keys that signed before'],
  ])
    .addOption(jsonOption())
    .action(list);
}

async function list(options: OutputOptions): Promise<void> {
  await withContext(async (context) => {
    const now = context.clock.now();
    const records = await listSigningKeys(context.pool);
    const { opened } = openSigningKeys(context.vault, records);
    const authentic = opened.map(({ record }) => record);
    const signing = findCurrentKey(authentic, now);
    const keys = records.map((record) => ({
      kid: record.kid,
      state: stateOf(record, authentic, signing, now),
      active_from: record.activeFrom,
      retired_at: record.retiredAt,
      created_at: record.createdAt,
    }));
    printResult(options, keys, () =>
      formatRows(keys, 'No signing keys. The first start of the service creates one.', [
        ['key', (key) => key.kid],
        ['state', (key) => key.state],
        ['signs from', (key) => key.active_from],
        ['created', (key) => key.created_at],
      ]),
    );
  });
}

/**
 * @param authentic the keys whose rows the master secret authenticates
 * @param signing the key that signs now
 */
function stateOf(
  record: SigningKeyRecord,
  authentic: readonly SigningKeyRecord[],
  signing: SigningKeyRecord | undefined,
  now: Date,
): string {
  const { kid, createdAt, retiredAt } = record;
  if (!authentic.includes(record)) return 'rejected';
  if (kid === signing?.kid) return 'signing';
  if (retiredAt === null || retiredAt > now) return 'published';
  return retiredAt < createdAt ? 'revoked' : 'retired';
}

interface ChangeOptions extends OutputOptions {
  readonly reason: string;
}

interface RotateOptions extends ChangeOptions {
  readonly immediately?: boolean;
}

function rotateCommand(): Command {
  return newCommand(
    'rotate',
    'Create a new key to sign entitlements with. It is published at once and signs a little later, so that every client can fetch it first. Older keys stay published until their last token expires.',
    [
      ['signing-key rotate --reason "yearly"', 'Routine rotation'],
      ['signing-key rotate --immediately --reason "backup stolen"', 'Emergency rotation'],
    ],
  )
    .option('--immediately', 'sign with the new key at once, when the old one leaked')
    .addOption(requiredReasonOption())
    .addOption(jsonOption())
    .action(rotate);
}

async function rotate(options: RotateOptions): Promise<void> {
  await withContext(async (context) => {
    const { kid, activeFrom } = await rotateSigningKey(
      context,
      { immediately: options.immediately === true },
      { actor: currentActor(), reason: options.reason },
    );
    printResult(
      options,
      { kid, active_from: activeFrom },
      () => `${kid} signs from ${formatMoment(activeFrom)}.`,
    );
  });
}

function revokeCommand(): Command {
  return newCommand(
    'revoke',
    'Remove a retired key that leaked from the key set. Clients then refuse tokens that it signed.',
    [
      [
        'signing-key revoke kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k --reason "backup stolen"',
        'After signing-key rotate --immediately',
      ],
    ],
  )
    .argument('<kid>', 'id of the key, from signing-key list')
    .addOption(requiredReasonOption())
    .addOption(jsonOption())
    .action(revoke);
}

async function revoke(kid: string, options: ChangeOptions): Promise<void> {
  await withContext(async (context) => {
    const change = { actor: currentActor(), reason: options.reason };
    if (!(await revokeSigningKey(context, kid, change))) {
      throw failed(
        `${kid} is not a retired key. latchkey signing-key list shows the keys; replace a key that signs with latchkey signing-key rotate --immediately first.`,
      );
    }
    printResult(
      options,
      { kid, revoked: true },
      () => `Revoked ${kid}. Every process removes it within a minute, clients within five.`,
    );
  });
}
