-- Keys from imports that a license has beside its first one, and ends that an import extended, so that both can be undone. The tables are
-- new and both columns have constant defaults: the migration takes milliseconds.

-- The keys that imports added to licenses that existed; distributed by license_id. license_keys has their hashes.
create table license_added_keys (
  license_id  uuid        not null,
  id          uuid        not null,
  -- Sealed as the key of the license.
  key_sealed  bytea       not null,
  key_hint    text        not null,
  import_id   uuid        not null,
  added_at    timestamptz not null,
  constraint license_added_keys_pkey primary key (license_id, id)
);

-- The licenses whose end an import moved to a later one; distributed by license_id. Deleted when the import is undone.
create table import_extensions (
  license_id            uuid        not null,
  import_id             uuid        not null,
  -- The end of the license before and after; null is perpetual.
  previous_expires_at   timestamptz not null,
  expires_at            timestamptz,
  -- The end that imported_licenses had before; null is perpetual.
  imported_expires_at   timestamptz,
  extended_at           timestamptz not null,
  -- The versions of the license before and after.
  previous_version      integer     not null,
  license_version       integer     not null,
  constraint import_extensions_pkey primary key (license_id, import_id)
);
-- import_extension_list
create index import_extensions_import on import_extensions (import_id, license_id);

-- The version of the license that no change but imports and their undo led to.
alter table imported_licenses add column license_version integer not null default 1;

-- The import that created the seat. Null: it is older than this column, or its license came with it.
alter table imported_seats add column import_id uuid;
