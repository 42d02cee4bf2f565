import { Command } from 'commander';
import { viewApiKey } from '#server/features/api-keys/list.ts';
import {
  DEFAULT_OVERLAP_MS,
  type RolledApiKey,
  rollApiKey,
} from '#server/features/api-keys/roll.ts';
import { currentActor } from '../actor.ts';
import { toKeyFields, toKeyJson } from './view.ts';
import { duration, jsonOption, shortText, withExamples } from '../option-values.ts';
import { type OutputOptions, formatFields, formatMoment, paint, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';

interface RollOptions extends OutputOptions {
  /** In milliseconds. */
  readonly overlap?: number;
  readonly reason?: string;
}

const MAX_OVERLAP_MS = 90 * 86_400_000;

export function keyRollCommand(): Command {
  const command = new Command('roll')
    .description(
      'Make a successor with the same name, scopes and term, and print it. It is shown this once; the old key is good for the overlap, and no longer.',
    )
    .argument('<key>', "the key's id or name")
    .option(
      '--overlap <time>',
      'how long the old key is good beside it; default: 24h',
      duration(MAX_OVERLAP_MS),
    )
    .option('--reason <text>', 'why, for the audit log', shortText)
    .addOption(jsonOption())
    .action(roll);
  return withExamples(command, [
    ['key roll sheet', 'A day to change to the new key'],
    ['key roll sheet --overlap 7d', 'A week'],
    ['key roll sheet --overlap 0 --reason "seen in a chat"', 'The old key ends at once'],
  ]);
}

async function roll(idOrName: string, options: RollOptions): Promise<void> {
  await withContext(async (ctx) => {
    const rolled = await rollApiKey(ctx, {
      idOrName,
      overlapMs: options.overlap ?? DEFAULT_OVERLAP_MS,
      actor: currentActor(),
      reason: options.reason ?? null,
    });
    const now = ctx.clock.now();
    const json = {
      api_key: rolled.apiKey,
      ...toKeyJson(viewApiKey(rolled.key, now)),
      replaces: { id: rolled.replaced.id, expires_at: rolled.replacedEndsAt },
    };
    printResult(options, json, () => describeRolled(rolled, now));
  });
}

function describeRolled(
  { key, apiKey, replaced, replacedEndsAt }: RolledApiKey,
  now: Date,
): string {
  const verb = replacedEndsAt <= now ? 'ended' : 'is good until';
  return `${paint('bold', apiKey)}

${formatFields(toKeyFields(viewApiKey(key, now)))}

Keep it now: it is stored nowhere. The old key, …${replaced.keyHint}, ${verb} ${formatMoment(replacedEndsAt)}.`;
}
