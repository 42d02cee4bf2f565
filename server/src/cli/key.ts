import { Command, InvalidArgumentError, Option } from 'commander';

import type { Context } from '#server/context.ts';
import {
  createApiKey,
  type CreatedApiKey,
  listApiKeys,
  viewApiKey,
  type ViewedApiKey,
  revokeApiKey,
  DEFAULT_OVERLAP_MS,
  rollApiKey,
  type RolledApiKey,
} from '#server/features/api-keys/manage.ts';
import { API_KEY_SCOPES, type ApiKeyScope } from '#server/features/api-keys/rules/api-key.ts';

import { currentActor } from './actor.ts';
import { usageError } from './command-error.ts';
import {
  duration,
  jsonOption,
  moment,
  reasonOption,
  shortText,
  wholeNumber,
  withExamples,
} from './options.ts';
import {
  type Cell,
  formatFields,
  formatMoment,
  formatTable,
  type OutputOptions,
  paint,
  printResult,
} from './output.ts';
import { withContext } from './with-context.ts';

/** `latchkey key …` */
export function keyCommand(): Command {
  return new Command('key')
    .description('The API keys of programs that call the service.')
    .addCommand(keyCreateCommand())
    .addCommand(keyListCommand())
    .addCommand(keyRollCommand())
    .addCommand(keyRevokeCommand());
}

interface CreateOptions extends OutputOptions {
  readonly name: string;
  readonly scope: readonly ApiKeyScope[];
  readonly expires?: Date;
  readonly days?: number;
  readonly reason?: string;
}

function keyCreateCommand(): Command {
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

function keyListCommand(): Command {
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

interface RollOptions extends OutputOptions {
  /** In milliseconds. */
  readonly overlap?: number;
  readonly reason?: string;
}

const MAX_OVERLAP_MS = 90 * 86_400_000;

function keyRollCommand(): Command {
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

interface RevokeOptions extends OutputOptions {
  readonly reason: string;
}

function keyRevokeCommand(): Command {
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

/** An API key for programs; never the key itself. */
function toKeyJson({ key, state }: ViewedApiKey) {
  return {
    id: key.id,
    name: key.name,
    key_hint: key.keyHint,
    scopes: key.scopes,
    state,
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    last_used_at: key.lastUsedAt,
    revoked_at: key.revokedAt,
    replaced_by: key.replacedBy,
  };
}

/** An API key that was just made, for people. */
function toKeyFields({ key }: ViewedApiKey): (readonly [string, Cell])[] {
  return [
    ['id', key.id],
    ['name', key.name],
    ['scopes', key.scopes.join(' ')],
    ['expires', key.expiresAt ?? 'never'],
  ];
}
