import { Type, type Static } from 'typebox';

import { toByteaArray } from '#server/db/hot-statement.ts';
import {
  Bytes,
  defineCommand,
  defineStatement,
  execute,
  Nullable,
  queryRow,
  queryRows,
  Timestamp,
  toColumns,
  type Queryable,
} from '#server/db/statement.ts';

/** A key of a pool that no license has yet. */
export interface NewPoolKey {
  readonly id: string;
  readonly productId: string;
  /** Hex digits. */
  readonly keyHash: string;
  readonly keySealed: Buffer;
  readonly keyHint: string;
}

const insertStatement = defineStatement(
  'license_pool_insert_many',
  Type.Object({ id: Type.String() }),
  `insert into license_pool_keys (id, product_id, key_hash, key_sealed, key_hint, added_at)
   select new.id, new.product_id, new.key_hash, new.key_sealed, new.key_hint, $6::timestamptz
   from unnest($1::uuid[], $2::text[], $3::bytea[], $4::bytea[], $5::text[])
     as new (id, product_id, key_hash, key_sealed, key_hint)
   where not exists (select from license_keys taken where taken.key_hash = new.key_hash)
   on conflict (key_hash) do nothing
   returning id`,
);

/** Adds keys to pools, except those that a pool or a license has already, and returns the ids of the added ones. */
export async function insertPoolKeys(
  db: Queryable,
  keys: readonly NewPoolKey[],
  addedAt: Date,
): Promise<string[]> {
  const rows = await queryRows(db, insertStatement, [
    keys.map(({ id }) => id),
    keys.map(({ productId }) => productId),
    keys.map(({ keyHash }) => Buffer.from(keyHash, 'hex')),
    keys.map(({ keySealed }) => keySealed),
    keys.map(({ keyHint }) => keyHint),
    addedAt,
  ]);
  return rows.map(({ id }) => id);
}

const isKnownStatement = defineStatement(
  'license_pool_is_known',
  Type.Object({ isKnown: Type.Boolean() }),
  `select exists (select from license_pool_keys where key_hash = any ($1::bytea[]))
       or exists (select from license_keys where key_hash = any ($1::bytea[])) as "isKnown"`,
);

/** Whether a pool or a license has a key already, by any of its hashes. */
export async function isKnownKey(db: Queryable, keyHashes: readonly string[]): Promise<boolean> {
  const row = await queryRow(db, isKnownStatement, [toByteaArray(keyHashes)]);
  return row?.isKnown === true;
}

/** A license that needs a key of a pool. */
export interface PoolRequest {
  readonly licenseId: string;
  readonly productId: string;
}

const TakenKey = Type.Object({ id: Type.String(), licenseId: Type.String(), keySealed: Bytes });

/** A key that a license took; sealed under the id of its row. */
export type TakenPoolKey = Readonly<Static<typeof TakenKey>>;

const takeStatement = defineStatement(
  'license_pool_take',
  TakenKey,
  `with wanted as (
     select license_id, product_id, row_number() over (partition by product_id order by position) as number
     from unnest($1::uuid[], $2::text[]) with ordinality as request (license_id, product_id, position)
   ), free as (
     select id, product_id, key_sealed, row_number() over (partition by product_id order by added_at, id) as number
     from (select product_id as wanted_id, count(*) as count from wanted group by product_id) as product
     cross join lateral (
       select id, product_id, key_sealed, added_at from license_pool_keys pool
       where pool.product_id = product.wanted_id and pool.license_id is null
         and not exists (select from license_keys taken where taken.key_hash = pool.key_hash)
       order by added_at, id
       limit product.count
       for update skip locked
     ) as locked
   )
   update license_pool_keys as pool
   set license_id = wanted.license_id, taken_at = $3::timestamptz, key_sealed = null
   from wanted join free using (product_id, number)
   where pool.id = free.id
   returning pool.id, pool.license_id as "licenseId", free.key_sealed as "keySealed"`,
);

/**
 * Takes the oldest free keys for licenses, in their order; fewer if a pool has too few. No two licenses get one key, also when
 * several processes take keys at the same time.
 */
export async function takePoolKeys(
  db: Queryable,
  requests: readonly PoolRequest[],
  takenAt: Date,
): Promise<TakenPoolKey[]> {
  const columns = toColumns(requests, ['licenseId', 'productId']);
  return queryRows(db, takeStatement, [...columns, takenAt]);
}

const PoolRow = Type.Object({
  productId: Type.String(),
  free: Type.Integer(),
  taken: Type.Integer(),
  newestAt: Timestamp,
});

/** The number of keys of a pool. */
export type KeyPool = Readonly<Static<typeof PoolRow>>;

const listStatement = defineStatement(
  'license_pool_list',
  PoolRow,
  `select product_id as "productId", count(*) filter (where license_id is null) as free,
          count(license_id) as taken, max(added_at) as "newestAt"
   from license_pool_keys group by product_id order by product_id`,
);

/** Lists the pools by product. */
export async function listKeyPools(db: Queryable): Promise<KeyPool[]> {
  return queryRows(db, listStatement);
}

const countFreeStatement = defineStatement(
  'license_pool_count_free',
  Type.Object({ productId: Type.String(), free: Type.Integer() }),
  `select product_id as "productId",
          (select count(*) from license_pool_keys pool
           where pool.product_id = product.product_id and pool.license_id is null) as free
   from unnest($1::text[]) as product (product_id)`,
);

/** Counts the free keys of each product, also of those without a key. */
export async function countFreePoolKeys(
  db: Queryable,
  productIds: readonly string[],
): Promise<Pick<KeyPool, 'productId' | 'free'>[]> {
  return queryRows(db, countFreeStatement, [productIds]);
}

const PoolKeyRow = Type.Object({
  id: Type.String(),
  keyHint: Type.String(),
  addedAt: Timestamp,
  licenseId: Nullable.Text,
  takenAt: Nullable.Timestamp,
});

/** A key of a pool, without the key. */
export type PoolKey = Readonly<Static<typeof PoolKeyRow>>;

const listKeysStatement = defineStatement(
  'license_pool_list_keys',
  PoolKeyRow,
  `select id, key_hint as "keyHint", added_at as "addedAt", license_id as "licenseId", taken_at as "takenAt"
   from license_pool_keys where product_id = $1 and ($2::uuid is null or id > $2)
   order by id limit $3`,
);

/** Lists a page of the keys of a pool, in the order in which they were added. @param after the last id of the page before */
export async function listPoolKeys(
  db: Queryable,
  productId: string,
  after: string | null,
  limit: number,
): Promise<PoolKey[]> {
  return queryRows(db, listKeysStatement, [productId, after, limit]);
}

const deleteFreeStatement = defineCommand(
  'license_pool_delete_free',
  `delete from license_pool_keys
   where product_id = $1 and license_id is null and ($2::uuid[] is null or id = any ($2))`,
);

/** Deletes free keys of a pool, and returns their number. @param ids null: all */
export async function deleteFreePoolKeys(
  db: Queryable,
  productId: string,
  ids: readonly string[] | null,
): Promise<number> {
  return execute(db, deleteFreeStatement, [productId, ids]);
}

const SealedPoolKey = Type.Object({ id: Type.String(), keySealed: Bytes });

/** The sealed key of a free row of a pool. */
export type SealedPoolKey = Readonly<Static<typeof SealedPoolKey>>;

const lockOutdatedStatement = defineStatement(
  'license_pool_lock_outdated',
  SealedPoolKey,
  `select id, key_sealed as "keySealed" from license_pool_keys
   where id > $1 and key_sealed is not null and substring(key_sealed from 2 for 3) <> decode($2, 'hex')
   order by id limit $3 for update`,
);

/** Locks a page of the free keys that are not sealed under a master secret. */
export async function lockOutdatedPoolKeys(
  db: Queryable,
  after: string,
  secretId: string,
  limit: number,
): Promise<SealedPoolKey[]> {
  return queryRows(db, lockOutdatedStatement, [after, secretId, limit]);
}

const updateSealedStatement = defineCommand(
  'license_pool_update_sealed',
  `update license_pool_keys as pool set key_hash = new.key_hash, key_sealed = new.key_sealed
   from unnest($1::uuid[], $2::bytea[], $3::bytea[]) as new (id, key_hash, key_sealed) where pool.id = new.id`,
);

/** Stores the hashes and the sealed keys of locked rows. */
export async function updateSealedPoolKeys(
  db: Queryable,
  keys: readonly Pick<NewPoolKey, 'id' | 'keyHash' | 'keySealed'>[],
): Promise<void> {
  await execute(db, updateSealedStatement, [
    keys.map(({ id }) => id),
    keys.map(({ keyHash }) => Buffer.from(keyHash, 'hex')),
    keys.map(({ keySealed }) => keySealed),
  ]);
}
