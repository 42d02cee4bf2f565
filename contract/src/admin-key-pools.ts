import { type Static, Type } from 'typebox';

import { reason } from './admin-list.ts';
import { operation } from './operation.ts';
import { dateTime, nullable, ref, text } from './schema.ts';

/** Keys that one request adds; the command line adds more. */
const MAX_KEYS = 5_000;
const MAX_KEY_LENGTH = 1_000;

/** 5,000 keys of 800 bytes each. */
const ADD_BODY_BYTES = 4_194_304;

const product = text({
  description: 'The id of the product.',
  minLength: 1,
  maxLength: 200,
  examples: ['suite'],
});

const KeyPool = Type.Object(
  {
    product_id: Type.String({ description: 'The product.', examples: ['suite'] }),
    is_used: Type.Boolean({
      description:
        'Whether licenses of the product take keys of the pool: `keys: pool` in the catalogue.',
    }),
    is_low: Type.Boolean({ description: 'Whether the pool is used and has few free keys.' }),
    free: Type.Integer({ description: 'Keys that no license has.', examples: [120] }),
    taken: Type.Integer({
      description: 'Keys that licenses took, also refunded ones.',
      examples: [80],
    }),
    newest_at: nullable(
      dateTime({
        description: 'When keys were last added; null: never.',
        examples: ['2026-11-21T08:00:00.000Z'],
      }),
    ),
  },
  { $id: 'KeyPool' },
);

const KeyPools = Type.Object({ items: Type.Array(ref(KeyPool)) }, { $id: 'KeyPools' });
export type KeyPools = Static<typeof KeyPools>;

const PoolKeysAdd = Type.Object(
  {
    product,
    keys: Type.Array(text({ maxLength: MAX_KEY_LENGTH, examples: ['ACME-4711-QX7R-92KD'] }), {
      description: 'The keys, in the order in which licenses take them. Empty ones are skipped.',
      minItems: 1,
      maxItems: MAX_KEYS,
    }),
    allow_weak_keys: Type.Optional(
      Type.Boolean({ default: false, description: 'Also add keys that can be guessed.' }),
    ),
    reason,
  },
  { $id: 'PoolKeysAdd', additionalProperties: false },
);
export type PoolKeysAdd = Static<typeof PoolKeysAdd>;

const AddedPoolKeys = Type.Object(
  {
    added: Type.Integer({ description: 'Keys that were added.' }),
    present: Type.Integer({ description: 'Keys that a pool or a license has already.' }),
    refused: Type.Integer({ description: 'Keys that cannot be added.' }),
    problems: Type.Array(
      Type.Object({
        line: Type.Integer({ description: 'The position of the key, from 1.', examples: [2] }),
        problem: Type.String({ examples: ['The key can be guessed.'] }),
      }),
      { description: 'The problems of the first 100 keys that cannot be added.' },
    ),
  },
  { $id: 'AddedPoolKeys' },
);
export type AddedPoolKeys = Static<typeof AddedPoolKeys>;

const PoolKeysRemove = Type.Object(
  { product, reason },
  { $id: 'PoolKeysRemove', additionalProperties: false },
);

const RemovedPoolKeys = Type.Object(
  { removed: Type.Integer({ description: 'Keys that were removed.', examples: [120] }) },
  { $id: 'RemovedPoolKeys' },
);
export type RemovedPoolKeys = Static<typeof RemovedPoolKeys>;

export const listKeyPools = operation({
  id: 'listKeyPools',
  method: 'GET',
  path: 'key-pools',
  summary: 'List the pools of keys from elsewhere',
  description: 'How many keys each product has left. The keys themselves are never shown again.',
  permission: 'key-pools:read',
  response: ref(KeyPools, 'The pools.'),
});

export const addPoolKeys = operation({
  id: 'addPoolKeys',
  method: 'POST',
  path: 'key-pools/add',
  summary: 'Add keys from elsewhere to the pool of a product',
  description:
    'Keys that exist already are skipped, so that a request can be repeated. Then replay payments that need attention.',
  permission: 'key-pools:add',
  body: ref(PoolKeysAdd),
  maxBodyBytes: ADD_BODY_BYTES,
  response: ref(AddedPoolKeys, 'How many were added, and what was not.'),
});

export const removePoolKeys = operation({
  id: 'removePoolKeys',
  method: 'POST',
  path: 'key-pools/remove',
  summary: 'Remove all free keys from the pool of a product',
  description: 'Keys that a license took stay.',
  permission: 'key-pools:remove',
  body: ref(PoolKeysRemove),
  response: ref(RemovedPoolKeys, 'How many were removed.'),
});
