import {
  addPoolKeys,
  type AddedPoolKeys,
  type KeyPools,
  listKeyPools,
  type PoolKeysAdd,
  removePoolKeys,
} from '@latchkey/contract';

import type { App } from '#server/http/app-instance.ts';
import { serveOperation } from '#server/http/serve-operation.ts';

import type { LicenseChangeDependencies } from '../licenses/dependencies.ts';
import * as keyPool from '../licenses/key-pool.ts';
import { FEW_KEYS, viewKeyPools } from '../licenses/view-key-pools.ts';
import { requireProduct } from './create-licenses.ts';

/** Problems that an answer lists. */
const MAX_PROBLEMS = 100;

/** Registers the operations on pools of keys. */
export function registerKeyPoolRoutes(app: App, deps: LicenseChangeDependencies): void {
  serveOperation(app, listKeyPools, () => listPools(deps));
  serveOperation(app, addPoolKeys, ({ body, operator }) => addKeys(deps, body, operator.actor));
  serveOperation(app, removePoolKeys, async ({ body: { product, reason }, operator }) => {
    const change = { actor: operator.actor, reason };
    return { removed: await keyPool.removePoolKeys(deps, product, null, change) };
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
  const result = await keyPool.addPoolKeys(deps, requireProduct(deps, product), keys, change);
  const { added, present, problems } = result;
  return { added, present, refused: problems.length, problems: problems.slice(0, MAX_PROBLEMS) };
}
