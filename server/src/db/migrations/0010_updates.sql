-- The end of the time in which a license gets new versions. Null: it gets all.
alter table licenses add column updates_until timestamptz;

-- Days of updates that were sold with the license. Null: all, or as long as its subscription is paid.
alter table billing_sales add column updates_days integer;

-- What moves the end of updates of a license: payments, and manual changes; distributed by license_id. A license that has only
-- renewals, or no row, gets all updates.
create table license_updates (
  license_id      uuid        not null,
  -- The line of a payment; empty for a manual change.
  provider        text        not null,
  transaction_id  text        not null,
  line_key        text        not null,
  -- sale: with the license; renewal: for a license that exists; manual: by an operator or an import.
  kind            text        not null,
  -- Added to the end of updates, or to paid_at if that is later. Null: the updates end at ends_at.
  days            integer,
  -- Null without days: the license gets all updates.
  ends_at         timestamptz,
  paid_at         timestamptz not null,
  -- When the payment was refunded or disputed, so that it counts for nothing.
  withdrawn_at    timestamptz,
  constraint license_updates_pkey primary key (license_id, provider, transaction_id, line_key),
  constraint license_updates_kind_check check (kind in ('sale', 'renewal', 'manual'))
);
-- license_update_list
create index license_updates_transaction on license_updates (transaction_id, provider);
