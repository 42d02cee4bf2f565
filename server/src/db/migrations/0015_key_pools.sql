-- Keys of another system that licenses take one by one instead of a generated key.
create table license_pool_keys (
  id          uuid        not null,
  product_id  text        not null,
  -- The keyed hash of the key, as in license_keys.
  key_hash    bytea       not null,
  -- Null once a license has the key, which then stores it.
  key_sealed  bytea,
  key_hint    text        not null,
  added_at    timestamptz not null,
  -- The license that took the key, also after its refund. Null: free.
  license_id  uuid,
  taken_at    timestamptz,
  constraint license_pool_keys_pkey primary key (id)
);
create unique index license_pool_keys_hash on license_pool_keys (key_hash);
-- license_pool_take
create index license_pool_keys_free on license_pool_keys (product_id, added_at, id) where license_id is null;
-- license_pool_list_keys
create index license_pool_keys_product on license_pool_keys (product_id, id);
