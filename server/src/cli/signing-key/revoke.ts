import { Command } from 'commander';
import { revokeSigningKey } from '#server/features/entitlements/rotate-signing-key.ts';
import { currentActor } from '../actor.ts';
import { failed } from '../command-error.ts';
import { jsonOption, reasonOption, withExamples } from '../option-values.ts';
import { type OutputOptions, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';

interface RevokeOptions extends OutputOptions {
  readonly reason: string;
}

export function signingKeyRevokeCommand(): Command {
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
