/** `latchkey pool`: keys of another system that licenses take one by one. */
import { readFileSync, statSync } from 'node:fs';

import { isUuid } from '@latchkey/contract';

import { addPoolKeys, MAX_POOL_KEYS, removePoolKeys } from '#server/features/licenses/key-pool.ts';
import { listPoolKeys } from '#server/features/licenses/queries/license-pool.ts';
import { viewKeyPools } from '#server/features/licenses/view-key-pools.ts';
import { countOf } from '#server/lib/text.ts';

import { currentActor } from './actor.ts';
import { commandGroup } from './command.ts';
import { usageError } from './command-error.ts';
import { requireProduct } from './license/argument.ts';
import { cursorOption, limitOption, requiredReasonOption, shortText } from './options.ts';
import { argument, flag, option } from './parameters.ts';
import { formatRows } from './table.ts';
import { contextCommand } from './with-context.ts';

const MAX_FILE_BYTES = 16_777_216;

const productOption = option('--product <id>', 'id of a product in the catalogue', shortText);

const addCommand = contextCommand({
  name: 'add',
  description:
    'Add keys to the pool of a product: a file with one key on each line. Keys that are present are skipped.',
  examples: {
    'pool add --product suite keys.txt --reason "delivery of May"': 'Add the keys of a file',
  },
  parameters: [
    argument('<file>', 'text file with one key on each line', shortText),
    productOption.required(),
    flag('--allow-weak-keys', 'also add keys that can be guessed'),
    requiredReasonOption,
  ],
  async run(context, { file, product: id, allowWeakKeys, reason }) {
    const product = requireProduct(context, id);
    const lines = readLines(file);
    const change = { actor: currentActor(), reason, allowWeakKeys };
    const { added, present, problems } = await addPoolKeys(context, product, lines, change);
    const refused = problems.map(({ line, problem }) => `Line ${line}: ${problem}\n`).join('');
    return {
      json: { added, present, problems },
      text: `${refused}Added ${countOf(added, 'key')}; present before: ${present}; refused: ${problems.length}.`,
    };
  },
});

function readLines(file: string): string[] {
  if (statSync(file).size > MAX_FILE_BYTES) throw usageError('The file is larger than 16 MiB.');
  const lines = readFileSync(file, 'utf8')
    .replace(/^\uFEFF/u, '')
    .split('\n');
  if (lines.length <= MAX_POOL_KEYS + 1) return lines;
  throw usageError(`The file has more than ${MAX_POOL_KEYS} lines: add it in parts.`);
}

const listCommand = contextCommand({
  name: 'list',
  description: 'List the pools with the number of their keys.',
  examples: { 'pool list': 'How many keys each product has left' },
  parameters: [],
  async run(context) {
    const pools = await viewKeyPools(context.pool, context.catalog());
    return {
      json: {
        items: pools.map(({ productId, free, taken }) => ({ product: productId, free, taken })),
      },
      text: formatRows(pools, 'There are no pools.', [
        ['product', ({ productId }) => productId],
        ['free', ({ free }) => free],
        ['taken', ({ taken }) => taken],
        ['newest', ({ newestAt }) => newestAt],
      ]),
    };
  },
});

const showCommand = contextCommand({
  name: 'show',
  description: 'List the keys of a pool by their ends, with the licenses that took them.',
  examples: { 'pool show --product suite': 'The keys of a product' },
  parameters: [productOption.required(), cursorOption, limitOption(50)],
  async run(context, { product, cursor, limit }) {
    const keys = await listPoolKeys(context.pool, product, cursor, limit);
    return {
      json: {
        items: keys.map((key) => ({
          id: key.id,
          key_hint: key.keyHint,
          added_at: key.addedAt,
          license_id: key.licenseId,
          taken_at: key.takenAt,
        })),
        next_cursor: keys.length === limit ? (keys.at(-1)?.id ?? null) : null,
      },
      text: formatRows(keys, 'The pool has no keys.', [
        ['id', ({ id }) => id],
        ['ends in', ({ keyHint }) => keyHint],
        ['added', ({ addedAt }) => addedAt],
        ['license', ({ licenseId }) => licenseId ?? 'free'],
        ['taken', ({ takenAt }) => takenAt],
      ]),
    };
  },
});

const removeCommand = contextCommand({
  name: 'remove',
  description: 'Remove free keys from a pool. Keys that a license took stay.',
  examples: {
    'pool remove --product suite --id 0190… --reason "printed elsewhere"': 'One key',
    'pool remove --product suite --all --reason "recalled"': 'All free keys',
  },
  parameters: [
    productOption.required(),
    option('--id <id>', 'id of a key, from pool show', shortText),
    flag('--all', 'all free keys'),
    requiredReasonOption,
  ],
  async run(context, { product, id, all, reason }) {
    if ((id === null) === !all) throw usageError('Use either --id or --all.');
    if (id !== null && !isUuid(id)) throw usageError('--id is not the id of a key.');
    const change = { actor: currentActor(), reason };
    const removed = await removePoolKeys(context, product, id === null ? null : [id], change);
    return { json: { removed }, text: `Removed ${countOf(removed, 'key')}.` };
  },
});

export const poolCommand = commandGroup('pool', 'Keys of another system, handed out one by one.', [
  addCommand,
  listCommand,
  showCommand,
  removeCommand,
]);
