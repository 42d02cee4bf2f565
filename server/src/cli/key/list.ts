import { Command } from 'commander';
import { listApiKeys } from '#server/features/api-keys/list.ts';
import { toKeyJson } from './view.ts';
import { jsonOption, withExamples } from '../option-values.ts';
import { type OutputOptions, formatTable, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';

export function keyListCommand(): Command {
  const command = new Command('list')
    .description('List the API keys, the newest first; never the keys themselves.')
    .addOption(jsonOption())
    .action(list);
  return withExamples(command, [['key list', 'Which keys there are, and when each was last used']]);
}

async function list(options: OutputOptions): Promise<void> {
  await withContext(async (ctx) => {
    const keys = (await listApiKeys(ctx)).map(toKeyJson);
    printResult(options, keys, () =>
      keys.length === 0
        ? 'There is no API key yet; latchkey key create makes one.'
        : formatTable(
            ['id', 'name', 'key', 'scopes', 'state', 'expires', 'last used'],
            keys.map((key) => [
              key.id,
              key.name,
              `…${key.key_hint}`,
              key.scopes.join(' '),
              key.state,
              key.expires_at ?? 'never',
              key.last_used_at,
            ]),
          ),
    );
  });
}
