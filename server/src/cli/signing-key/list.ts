import { Command } from 'commander';
import { findCurrentKey } from '#server/features/entitlements/current-key.ts';
import { type SigningKeyRecord, listSigningKeys } from '#server/features/entitlements/queries.ts';
import { jsonOption, withExamples } from '../option-values.ts';
import { type OutputOptions, formatTable, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';

export function signingKeyListCommand(): Command {
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
    const keys = records.map((record) => toJson(record, records, now));
    printResult(options, keys, () =>
      formatTable(
        ['key', 'state', 'signs from', 'created'],
        keys.map((key) => [key.kid, key.state, key.active_from, key.created_at]),
      ),
    );
  });
}

function toJson(record: SigningKeyRecord, records: readonly SigningKeyRecord[], now: Date) {
  const signing = findCurrentKey(records, now);
  const later = record.activeFrom > now ? 'published' : 'retired';
  return {
    kid: record.kid,
    state: record.kid === signing?.kid ? 'signing' : later,
    active_from: record.activeFrom,
    created_at: record.createdAt,
  };
}
