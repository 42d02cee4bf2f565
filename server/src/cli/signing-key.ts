import { Command } from 'commander';

import { findCurrentKey, openSigningKeys } from '#server/features/entitlements/signing-key.ts';
import { listSigningKeys, type SigningKeyRecord } from '#server/features/entitlements/queries.ts';
import {
  revokeSigningKey,
  rotateSigningKey,
} from '#server/features/entitlements/rotate-signing-key.ts';

import { currentActor } from './actor.ts';
import { failed } from './command-error.ts';
import { jsonOption, reasonOption, withExamples } from './options.ts';
import { formatMoment, formatTable, type OutputOptions, printResult } from './output.ts';
import { withContext } from './with-context.ts';

/** `latchkey signing-key …` */
export function signingKeyCommand(): Command {
  return new Command('signing-key')
    .description('The keys that entitlements are signed with.')
    .addCommand(signingKeyListCommand())
    .addCommand(signingKeyRotateCommand())
    .addCommand(signingKeyRevokeCommand());
}

function signingKeyListCommand(): Command {
  const command = new Command('list')
    .description('List the keys that entitlements are signed with.')
    .addOption(jsonOption())
    .action(list);
  return withExamples(command, [['signing-key list', 'Which key signs now, and which ones did']]);
}

async function list(options: OutputOptions): Promise<void> {
  await withContext(async (ctx) => {
    const now = ctx.clock.now();
    const records = await listSigningKeys(ctx.pool);
    const { opened } = openSigningKeys(ctx.vault, records);
    const authentic = opened.map(({ record }) => record);
    const signing = findCurrentKey(authentic, now);
    const keys = records.map((record) => toJson(record, authentic.includes(record), signing, now));
    printResult(options, keys, () =>
      formatTable(
        ['key', 'state', 'signs from', 'created'],
        keys.map((key) => [key.kid, key.state, key.active_from, key.created_at]),
      ),
    );
  });
}

/**
 * @param isAuthentic whether the master secret authenticates the row
 * @param signing the key that signs now
 */
function toJson(
  record: SigningKeyRecord,
  isAuthentic: boolean,
  signing: SigningKeyRecord | undefined,
  now: Date,
) {
  const { kid, activeFrom, createdAt, retiredAt } = record;
  const isRetired = retiredAt !== null && retiredAt <= now;
  const isRevoked = retiredAt !== null && retiredAt < createdAt;
  const other = isRevoked ? 'revoked' : isRetired ? 'retired' : 'published';
  const usable = kid === signing?.kid ? 'signing' : other;
  return {
    kid,
    state: isAuthentic ? usable : 'rejected',
    active_from: activeFrom,
    retired_at: retiredAt,
    created_at: createdAt,
  };
}

interface RotateOptions extends OutputOptions {
  readonly reason: string;
  readonly immediately?: boolean;
}

function signingKeyRotateCommand(): Command {
  const command = new Command('rotate')
    .description(
      'Make a new key that signs entitlements. It is published at once and signs a little later, so that every client can know it; older keys stay published until their last token is over.',
    )
    .option('--immediately', 'sign with it at once: for a key that leaked')
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(rotate);
  return withExamples(command, [
    ['signing-key rotate --reason "yearly"', 'As a routine'],
    ['signing-key rotate --immediately --reason "backup stolen"', 'In an emergency'],
  ]);
}

async function rotate(options: RotateOptions): Promise<void> {
  await withContext(async (ctx) => {
    const { kid, activeFrom } = await rotateSigningKey(
      ctx,
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

interface RevokeOptions extends OutputOptions {
  readonly reason: string;
}

function signingKeyRevokeCommand(): Command {
  const command = new Command('revoke')
    .description(
      'Withdraw a retired key from the key set, for a key that leaked: tokens signed with it are refused.',
    )
    .argument('<kid>', 'id of the key, from signing-key list')
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(revoke);
  return withExamples(command, [
    [
      'signing-key revoke kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k --reason "backup stolen"',
      'After signing-key rotate --immediately',
    ],
  ]);
}

async function revoke(kid: string, options: RevokeOptions): Promise<void> {
  await withContext(async (ctx) => {
    const change = { actor: currentActor(), reason: options.reason };
    if (!(await revokeSigningKey(ctx, kid, change))) {
      throw failed(
        `${kid} is no retired key: list them with latchkey signing-key list, and replace one that signs with latchkey signing-key rotate --immediately first.`,
      );
    }
    printResult(
      options,
      { kid, revoked: true },
      () => `${kid} is revoked; every process withdraws it within a minute, clients within five.`,
    );
  });
}
