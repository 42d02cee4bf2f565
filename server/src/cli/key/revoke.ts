import { Command } from 'commander';
import { viewApiKey } from '#server/features/api-keys/list.ts';
import { revokeApiKey } from '#server/features/api-keys/revoke.ts';
import { currentActor } from '../actor.ts';
import { toKeyJson } from './view.ts';
import { jsonOption, reasonOption, withExamples } from '../option-values.ts';
import { type OutputOptions, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';

interface RevokeOptions extends OutputOptions {
  readonly reason: string;
}

export function keyRevokeCommand(): Command {
  const command = new Command('revoke')
    .description(
      'End an API key at once and for good. By a name, also the keys of that name that were rolled and still work.',
    )
    .argument('<key>', "the key's id or name")
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(revoke);
  return withExamples(command, [
    ['key revoke sheet --reason "in a public repository"', 'For a key that leaked'],
  ]);
}

async function revoke(idOrName: string, options: RevokeOptions): Promise<void> {
  await withContext(async (ctx) => {
    const { reason } = options;
    const revoked = await revokeApiKey(ctx, { idOrName, reason, actor: currentActor() });
    const now = ctx.clock.now();
    const json = revoked.map((key) => toKeyJson(viewApiKey(key, now)));
    printResult(options, json, () =>
      revoked.map(({ id, name, keyHint }) => `${name} (…${keyHint}, ${id}) is revoked.`).join('\n'),
    );
  });
}
