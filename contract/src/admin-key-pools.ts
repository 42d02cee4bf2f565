import { type Static, Type } from 'typebox';

import { reason } from './admin-list.ts';
import { dateTime, nullable, ref, text } from './schema.ts';

/** Keys that one request adds; the command line adds more. */
const MAX_KEYS = 5_000;
const MAX_KEY_LENGTH = 1_000;

const product = text({
  description: 'The id of the product.',
  minLength: 1,
  maxLength: 200,
  examples: ['suite'],
});

export const KeyPool = Type.Object(
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
export type KeyPool = Static<typeof KeyPool>;

export const KeyPools = Type.Object({ items: Type.Array(ref(KeyPool)) }, { $id: 'KeyPools' });
export type KeyPools = Static<typeof KeyPools>;

export const PoolKeysAdd = Type.Object(
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
  { $id: 'PoolKeysAdd' },
);
export type PoolKeysAdd = Static<typeof PoolKeysAdd>;

export const AddedPoolKeys = Type.Object(
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

export const PoolKeysRemove = Type.Object({ product, reason }, { $id: 'PoolKeysRemove' });
export type PoolKeysRemove = Static<typeof PoolKeysRemove>;

export const RemovedPoolKeys = Type.Object(
  { removed: Type.Integer({ description: 'Keys that were removed.', examples: [120] }) },
  { $id: 'RemovedPoolKeys' },
);
export type RemovedPoolKeys = Static<typeof RemovedPoolKeys>;

/** The named schemas of pools of keys, for the interface document. */
export const keyPoolSchemas = [
  KeyPool,
  KeyPools,
  PoolKeysAdd,
  AddedPoolKeys,
  PoolKeysRemove,
  RemovedPoolKeys,
] as const;
