import { Command, InvalidArgumentError, Option } from 'commander';
import type { Context } from '#server/context.ts';
import { type CreatedApiKey, createApiKey } from '#server/features/api-keys/create.ts';
import { viewApiKey } from '#server/features/api-keys/list.ts';
import { API_KEY_SCOPES, type ApiKeyScope } from '#server/features/api-keys/rules/scopes.ts';
import { currentActor } from '../actor.ts';
import { usageError } from '../command-error.ts';
import { toKeyFields, toKeyJson } from './view.ts';
import { jsonOption, moment, shortText, wholeNumber, withExamples } from '../option-values.ts';
import { type OutputOptions, formatFields, paint, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';

interface CreateOptions extends OutputOptions {
  readonly name: string;
  readonly scope: readonly ApiKeyScope[];
  readonly expires?: Date;
  readonly days?: number;
  readonly reason?: string;
}

export function keyCreateCommand(): Command {
  const command = new Command('create')
    .description('Make an API key and print it. It is shown this once.')
    .requiredOption('--name <name>', 'what it is for; no two keys in use share a name', shortText)
    .addOption(scopeOption())
    .option('--expires <date>', 'its end; default: never', moment)
    .option('--days <n>', 'its end, in days from now', wholeNumber(1, 36_500))
    .option('--reason <text>', 'why, for the audit log', shortText)
    .addOption(jsonOption())
    .action(create);
  return withExamples(command, [
    ['key create --name sheet --scope outreach:send', 'For a spreadsheet that sends e-mail'],
    [
      'key create --name prometheus --scope metrics:read --days 365',
      'For a scraper, good for a year',
    ],
    ['key create --name shop --scope subscribers:write', 'For a shop that passes on its form'],
  ]);
}

function scopeOption(): Option {
  return new Option(
    '--scope <scope>',
    `what it opens: ${API_KEY_SCOPES.join(', ')}; may be repeated`,
  )
    .argParser(collectScopes)
    .makeOptionMandatory();
}

function collectScopes(text: string, collected: readonly ApiKeyScope[] = []): ApiKeyScope[] {
  const scope = API_KEY_SCOPES.find((each) => each === text);
  if (scope !== undefined) return [...collected, scope];
  throw new InvalidArgumentError(`It must be one of ${API_KEY_SCOPES.join(', ')}.`);
}

async function create(options: CreateOptions): Promise<void> {
  const { name, scope: scopes, expires, days, reason } = options;
  if (expires !== undefined && days !== undefined) {
    throw usageError('--expires and --days both say when it ends: give one of them.');
  }
  await withContext(async (ctx) => {
    const term = days === undefined ? { until: expires ?? null } : { days };
    const change = { actor: currentActor(), reason: reason ?? null };
    const created = await createApiKey(ctx, { name, scopes, term }, change);
    const viewed = viewApiKey(created.key, ctx.clock.now());
    const json = { api_key: created.apiKey, ...toKeyJson(viewed) };
    printResult(options, json, () => describeCreated(ctx, created));
  });
}

function describeCreated(ctx: Context, { key, apiKey }: CreatedApiKey): string {
  const fields = toKeyFields(viewApiKey(key, ctx.clock.now()));
  return `${paint('bold', apiKey)}

${formatFields(fields)}

Keep it now: it is stored nowhere. Programs send it as the header X-API-Key.`;
}
