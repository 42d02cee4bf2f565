/** `latchkey key`: API keys of programs that call the service. */
import { API_KEY_SCOPES, type ApiKeyScope } from '@latchkey/contract';
import { InvalidArgumentError } from 'commander';

import { apiKeySource, viewApiKey } from '#server/features/api-keys/list-api-keys.ts';
import {
  createApiKey,
  type CreatedApiKey,
  revokeApiKey,
  rollApiKey,
  type RolledApiKey,
} from '#server/features/api-keys/manage.ts';
import { apiKeyState } from '#server/features/api-keys/rules/api-key.ts';
import { formatTimestamp } from '#server/lib/text.ts';

import { currentActor } from './actor.ts';
import { commandGroup } from './command.ts';
import {
  DAY_MS,
  expiryOptions,
  overlapOption,
  reasonOption,
  requiredReasonOption,
  shortText,
} from './options.ts';
import { paint } from './output.ts';
import { anyText, argument, option } from './parameters.ts';
import { formatFields, formatRows } from './table.ts';
import { contextCommand } from './with-context.ts';

const createCommand = contextCommand({
  name: 'create',
  description: 'Create an API key and print it. It cannot be shown again.',
  examples: {
    'key create --name sheet --scope outreach:send': 'For a spreadsheet that sends e-mail',
    'key create --name prometheus --scope metrics:read --days 365':
      'For a metrics scraper, valid for a year',
    'key create --name shop --scope subscribers:write': 'For the newsletter form of a shop',
  },
  parameters: [
    option('--name <name>', 'purpose of the key; unique among valid keys', shortText).required(),
    option(
      '--scope <scope>',
      `permission of the key, repeatable: ${API_KEY_SCOPES.join(', ')}`,
      collectScopes,
    ).required(),
    ...expiryOptions('never'),
    reasonOption,
  ],
  async run(context, { name, scope: scopes, expires, days, reason }) {
    const term = days === null ? { until: expires } : { days };
    const change = { actor: currentActor(), reason };
    const created = await createApiKey(context, { name, scopes, term }, change);
    const key = viewApiKey(created.key, context.clock.now());
    return {
      json: { api_key: created.apiKey, ...key },
      text: formatNewKey(created, 'Programs send it in the header X-API-Key.'),
    };
  },
});

function collectScopes(text: string, collected: readonly ApiKeyScope[] = []) {
  const scope = API_KEY_SCOPES.find((each) => each === text);
  if (scope !== undefined) return [...collected, scope];
  throw new InvalidArgumentError(`Expected one of ${API_KEY_SCOPES.join(', ')}.`);
}

const NEWEST = { sort: 'created_at', descending: true, after: null, limit: 1_000 };

const listCommand = contextCommand({
  name: 'list',
  description: 'List the API keys, newest first. The keys themselves are not shown.',
  examples: { 'key list': 'Names, scopes and last use' },
  async run(context) {
    const now = context.clock.now();
    const { rows } = await apiKeySource(context).read({}, now)(NEWEST);
    const text = formatRows(rows, 'No API keys. Create one with latchkey key create.', [
      ['id', (key) => key.id],
      ['name', (key) => key.name],
      ['key', (key) => `…${key.keyHint}`],
      ['scopes', (key) => key.scopes.join(' ')],
      ['state', (key) => apiKeyState(key, now)],
      ['expires', (key) => key.expiresAt ?? 'never'],
      ['last used', (key) => key.lastUsedAt],
    ]);
    return { json: rows.map((key) => viewApiKey(key, now)), text };
  },
});

const keyArgument = argument('<key>', 'id or name of the key', anyText);

const rollCommand = contextCommand({
  name: 'roll',
  description:
    'Replace an API key by a new one and print it. The new key has the same name, scopes and term, and cannot be shown again. The old key stays valid for the overlap.',
  examples: {
    'key roll sheet': 'Keep the old key valid for a day',
    'key roll sheet --overlap 7d': 'Keep the old key valid for a week',
    'key roll sheet --overlap 0 --reason "seen in a chat"': 'Revoke the old key at once',
  },
  parameters: [keyArgument, overlapOption(90 * DAY_MS), reasonOption],
  async run(context, { key: idOrName, overlap: overlapMs, reason }) {
    const change = { idOrName, overlapMs, actor: currentActor(), reason };
    const rolled = await rollApiKey(context, change);
    const now = context.clock.now();
    return {
      json: {
        api_key: rolled.apiKey,
        ...viewApiKey(rolled.key, now),
        replaces: { id: rolled.replaced.id, expires_at: rolled.replacedEndsAt },
      },
      text: formatNewKey(rolled, describeReplaced(rolled, now)),
    };
  },
});

function describeReplaced({ replaced, replacedEndsAt }: RolledApiKey, now: Date): string {
  const verb = replacedEndsAt <= now ? 'expired at' : 'is valid until';
  return `The old key (…${replaced.keyHint}) ${verb} ${formatTimestamp(replacedEndsAt)}.`;
}

const revokeCommand = contextCommand({
  name: 'revoke',
  description:
    'Revoke an API key permanently. A name also revokes the rolled keys of that name that are still valid.',
  examples: {
    'key revoke sheet --reason "in a public repository"': 'Revoke a key that leaked',
  },
  parameters: [keyArgument, requiredReasonOption],
  async run(context, { key: idOrName, reason }) {
    const revoked = await revokeApiKey(context, { idOrName, reason, actor: currentActor() });
    const now = context.clock.now();
    return {
      json: revoked.map((key) => viewApiKey(key, now)),
      text: revoked
        .map(({ id, name, keyHint }) => `Revoked ${name} (…${keyHint}, ${id}).`)
        .join('\n'),
    };
  },
});

function formatNewKey({ key, apiKey }: CreatedApiKey, advice: string): string {
  const fields = formatFields([
    ['id', key.id],
    ['name', key.name],
    ['scopes', key.scopes.join(' ')],
    ['expires', key.expiresAt ?? 'never'],
  ]);
  return `${paint('bold', apiKey)}\n\n${fields}\n\nStore the key now: it cannot be shown again. ${advice}`;
}

export const keyCommand = commandGroup(
  'key',
  'Create, list, roll and revoke the API keys of your programs.',
  [createCommand, listCommand, rollCommand, revokeCommand],
);
