import {
  AddedPoolKeys,
  KeyPools,
  PoolKeysAdd,
  PoolKeysRemove,
  ref,
  RemovedPoolKeys,
} from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import type { App } from '#server/http/app-instance.ts';
import { ADMIN, ADMIN_FRESH, VIEWER, operatorOf } from '#server/http/require-operator.ts';

import type { LicenseChangeDependencies } from '../licenses/dependencies.ts';
import { addPoolKeys, removePoolKeys } from '../licenses/key-pool.ts';
import { FEW_KEYS, viewKeyPools } from '../licenses/view-key-pools.ts';
import { requireProduct } from './create-licenses.ts';

const PATH = '/api/v1/admin/key-pools';
const TAGS = ['admin: licenses'];

/** 5,000 keys of 800 bytes each. */
const ADD_BODY_BYTES = 4_194_304;

/** Problems that an answer lists. */
const MAX_PROBLEMS = 100;

/** Registers the operations on pools of keys. */
export function registerKeyPoolRoutes(app: App, deps: LicenseChangeDependencies): void {
  app.get(PATH, { config: VIEWER, schema: listOperation }, () => listPools(deps));
  app.post(
    `${PATH}/add`,
    { config: ADMIN, schema: addOperation, bodyLimit: ADD_BODY_BYTES },
    (request) => addKeys(deps, request.body, operatorOf(request).actor),
  );
  app.post(`${PATH}/remove`, { config: ADMIN_FRESH, schema: removeOperation }, async (request) => {
    const { product, reason } = request.body;
    const change = { actor: operatorOf(request).actor, reason };
    return { removed: await removePoolKeys(deps, product, null, change) };
  });
}

async function listPools({ pool, catalog }: LicenseChangeDependencies): Promise<KeyPools> {
  const pools = await viewKeyPools(pool, catalog());
  return {
    items: pools.map(({ productId, isUsed, free, taken, newestAt }) => ({
      product_id: productId,
      is_used: isUsed,
      is_low: isUsed && free < FEW_KEYS,
      free,
      taken,
      newest_at: newestAt?.toISOString() ?? null,
    })),
  };
}

async function addKeys(
  deps: LicenseChangeDependencies,
  { product, keys, reason, allow_weak_keys: allowWeakKeys = false }: PoolKeysAdd,
  actor: string,
): Promise<AddedPoolKeys> {
  const change = { actor, reason, allowWeakKeys };
  const result = await addPoolKeys(deps, requireProduct(deps, product), keys, change);
  const { added, present, problems } = result;
  return { added, present, refused: problems.length, problems: problems.slice(0, MAX_PROBLEMS) };
}

const listOperation = {
  operationId: 'listKeyPools',
  tags: TAGS,
  summary: 'List the pools of keys from elsewhere',
  description: 'How many keys each product has left. The keys themselves are never shown again.',
  response: { 200: ref(KeyPools, 'The pools.') },
} satisfies FastifySchema;

const addOperation = {
  operationId: 'addPoolKeys',
  tags: TAGS,
  summary: 'Add keys from elsewhere to the pool of a product',
  description:
    'Keys that exist already are skipped, so that a request can be repeated. Then replay payments that need attention.',
  body: ref(PoolKeysAdd),
  response: { 200: ref(AddedPoolKeys, 'How many were added, and what was not.') },
} satisfies FastifySchema;

const removeOperation = {
  operationId: 'removePoolKeys',
  tags: TAGS,
  summary: 'Remove all free keys from the pool of a product',
  description: 'Keys that a license took stay.',
  body: ref(PoolKeysRemove),
  response: { 200: ref(RemovedPoolKeys, 'How many were removed.') },
} satisfies FastifySchema;
