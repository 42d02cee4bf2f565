/** `latchkey key`: API keys of programs that call the service. */
import { Command, InvalidArgumentError, Option } from 'commander';

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
  DAY_MS,
  jsonOption,
  moment,
  newCommand,
  overlapOption,
  reasonOption,
  requiredReasonOption,
  shortText,
  wholeNumber,
} from './options.ts';
import { type OutputOptions, paint, printResult } from './output.ts';
import { formatFields, formatMoment, formatRows } from './table.ts';
import { withContext } from './with-context.ts';

export function keyCommand(): Command {
  return new Command('key')
    .description('Create, list, roll and revoke the API keys of your programs.')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(rollCommand())
    .addCommand(revokeCommand());
}

interface CreateOptions extends OutputOptions {
  readonly name: string;
  readonly scope: readonly ApiKeyScope[];
  readonly expires?: Date;
  readonly days?: number;
  readonly reason?: string;
}

function createCommand(): Command {
  return newCommand('create', 'Create an API key and print it. It cannot be shown again.', [
    ['key create --name sheet --scope outreach:send', 'For a spreadsheet that sends e-mail'],
    [
      'key create --name prometheus --scope metrics:read --days 365',
      'For a metrics scraper, valid for a year',
    ],
    ['key create --name shop --scope subscribers:write', 'For the newsletter form of a shop'],
  ])
    .requiredOption('--name <name>', 'purpose of the key; unique among valid keys', shortText)
    .addOption(scopeOption())
    .option('--expires <date>', 'expiry date or date-time in UTC (default: never)', moment)
    .option('--days <n>', 'expiry in days from now', wholeNumber(1, 36_500))
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(create);
}

function scopeOption(): Option {
  return new Option(
    '--scope <scope>',
    `permission of the key, repeatable: ${API_KEY_SCOPES.join(', ')}`,
  )
    .argParser(collectScopes)
    .makeOptionMandatory();
}

function collectScopes(text: string, collected: readonly ApiKeyScope[] = []): ApiKeyScope[] {
  const scope = API_KEY_SCOPES.find((each) => each === text);
  if (scope !== undefined) return [...collected, scope];
  throw new InvalidArgumentError(`Expected one of ${API_KEY_SCOPES.join(', ')}.`);
}

async function create(options: CreateOptions): Promise<void> {
  const { name, scope: scopes, expires, days, reason } = options;
  if (expires !== undefined && days !== undefined) {
    throw usageError('Use either --expires or --days, not both.');
  }
  await withContext(async (context) => {
    const term = days === undefined ? { until: expires ?? null } : { days };
    const change = { actor: currentActor(), reason: reason ?? null };
    const created = await createApiKey(context, { name, scopes, term }, change);
    const viewed = viewApiKey(created.key, context.clock.now());
    const json = { api_key: created.apiKey, ...toKeyJson(viewed) };
    printResult(options, json, () => formatNewKey(created, NOT_STORED));
  });
}

const NOT_STORED =
  'Store the key now: it cannot be shown again. Programs send it in the header X-API-Key.';

function listCommand(): Command {
  return newCommand('list', 'List the API keys, newest first. The keys themselves are not shown.', [
    ['key list', 'Names, scopes and last use'],
  ])
    .addOption(jsonOption())
    .action(list);
}

async function list(options: OutputOptions): Promise<void> {
  await withContext(async (context) => {
    const keys = (await listApiKeys(context)).map(toKeyJson);
    printResult(options, keys, () =>
      formatRows(keys, 'No API keys. Create one with latchkey key create.', [
        ['id', (key) => key.id],
        ['name', (key) => key.name],
        ['key', (key) => `…${key.key_hint}`],
        ['scopes', (key) => key.scopes.join(' ')],
        ['state', (key) => key.state],
        ['expires', (key) => key.expires_at ?? 'never'],
        ['last used', (key) => key.last_used_at],
      ]),
    );
  });
}

interface RollOptions extends OutputOptions {
  /** In milliseconds. */
  readonly overlap?: number;
  readonly reason?: string;
}

const MAX_OVERLAP_MS = 90 * DAY_MS;

function rollCommand(): Command {
  return newCommand(
    'roll',
    'Replace an API key by a new one and print it. The new key has the same name, scopes and term, and cannot be shown again. The old key stays valid for the overlap.',
    [
      ['key roll sheet', 'Keep the old key valid for a day'],
      ['key roll sheet --overlap 7d', 'Keep the old key valid for a week'],
      ['key roll sheet --overlap 0 --reason "seen in a chat"', 'Revoke the old key at once'],
    ],
  )
    .argument('<key>', 'id or name of the key')
    .addOption(overlapOption(MAX_OVERLAP_MS))
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(roll);
}

async function roll(idOrName: string, options: RollOptions): Promise<void> {
  await withContext(async (context) => {
    const rolled = await rollApiKey(context, {
      idOrName,
      overlapMs: options.overlap ?? DEFAULT_OVERLAP_MS,
      actor: currentActor(),
      reason: options.reason ?? null,
    });
    const now = context.clock.now();
    const json = {
      api_key: rolled.apiKey,
      ...toKeyJson(viewApiKey(rolled.key, now)),
      replaces: { id: rolled.replaced.id, expires_at: rolled.replacedEndsAt },
    };
    printResult(options, json, () => formatNewKey(rolled, describeReplaced(rolled, now)));
  });
}

function describeReplaced({ replaced, replacedEndsAt }: RolledApiKey, now: Date): string {
  const verb = replacedEndsAt <= now ? 'expired at' : 'is valid until';
  return `Store the key now: it cannot be shown again. The old key (…${replaced.keyHint}) ${verb} ${formatMoment(replacedEndsAt)}.`;
}

interface RevokeOptions extends OutputOptions {
  readonly reason: string;
}

function revokeCommand(): Command {
  return newCommand(
    'revoke',
    'Revoke an API key permanently. A name also revokes the rolled keys of that name that are still valid.',
    [['key revoke sheet --reason "in a public repository"', 'Revoke a key that leaked']],
  )
    .argument('<key>', 'id or name of the key')
    .addOption(requiredReasonOption())
    .addOption(jsonOption())
    .action(revoke);
}

async function revoke(idOrName: string, options: RevokeOptions): Promise<void> {
  await withContext(async (context) => {
    const { reason } = options;
    const revoked = await revokeApiKey(context, { idOrName, reason, actor: currentActor() });
    const now = context.clock.now();
    const json = revoked.map((key) => toKeyJson(viewApiKey(key, now)));
    printResult(options, json, () =>
      revoked.map(({ id, name, keyHint }) => `Revoked ${name} (…${keyHint}, ${id}).`).join('\n'),
    );
  });
}

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

function formatNewKey({ key, apiKey }: CreatedApiKey, advice: string): string {
  const fields = formatFields([
    ['id', key.id],
    ['name', key.name],
    ['scopes', key.scopes.join(' ')],
    ['expires', key.expiresAt ?? 'never'],
  ]);
  return `${paint('bold', apiKey)}\n\n${fields}\n\n${advice}`;
}
