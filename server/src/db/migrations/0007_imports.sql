-- Imports of licenses from other systems: each import, its licenses, and the seats that they used there. The tables are new: the
-- migration takes milliseconds.

-- One row per import; a few rows.
create table imports (
  id           uuid        not null,
  -- The system that the licenses come from, such as gumroad.
  source       text        not null,
  -- The name of the file or of the interface that was read.
  origin       text        not null,
  actor        text        not null,
  reason       text,
  started_at   timestamptz not null,
  -- Null: in progress, or interrupted.
  finished_at  timestamptz,
  -- When an operator undid it; licenses that were in use stayed.
  undone_at    timestamptz,
  -- The report, without keys and addresses. Null: not finished.
  report       jsonb,
  constraint imports_pkey primary key (id)
);

-- The licenses of imports, so that a repeated import finds them; distributed by source_id.
create table imported_licenses (
  source             text        not null,
  -- The license's or subscription's id in its source. `key:` and the keyed hash of the key where the source has no ids.
  source_id          text        not null,
  import_id          uuid        not null,
  license_id         uuid        not null,
  -- False: the license existed already, with the same key.
  is_created         boolean     not null,
  -- SHA-256 of the imported values except the end.
  digest             text        not null,
  -- The end as imported. Null: perpetual.
  expires_at         timestamptz,
  source_created_at  timestamptz,
  -- Ids in the source that its license interface returns, such as those of the order and the product.
  details            jsonb       not null,
  constraint imported_licenses_pkey primary key (source_id, source)
);
-- imported_license_list
create index imported_licenses_import on imported_licenses (import_id, source_id);
-- imported_license_find_origin, imported_license_delete
create index imported_licenses_license on imported_licenses (license_id);

-- The seats that a license used in its previous system: known devices, or only their number; distributed by license_id. A new machine
-- of the license takes one over.
create table imported_seats (
  license_id     uuid        not null,
  id             uuid        not null,
  -- The id of the device or of its activation in the source. Null: only the number of devices is known.
  instance_id    text,
  -- The name of the device in the source.
  label          text,
  -- As the source reports it.
  last_seen_at   timestamptz,
  -- When a program that still calls the interface of the previous system last used the seat here. Null: never.
  used_at        timestamptz,
  -- Until then it counts as a machine that the license knows.
  counts_until   timestamptz not null,
  -- The activation that took it over, and when. Null: none did.
  activation_id  uuid,
  taken_over_at  timestamptz,
  constraint imported_seats_pkey primary key (license_id, id),
  constraint imported_seats_taken_over_check check ((activation_id is null) = (taken_over_at is null))
);
-- imported_seat_take_over: the free seats of a license.
create index imported_seats_free on imported_seats (license_id, last_seen_at) where activation_id is null;
-- imported_seat_find_instance: the seat of a program that knows its id in the source.
create index imported_seats_instance on imported_seats (license_id, instance_id) where instance_id is not null;
