-- What was sold with a license under each of its prices, so that a change of the catalogue does not change it; distributed
-- by license_id.
create table billing_sales (
  license_id     uuid        not null,
  -- Empty: whatever price the license had when it was sold before sales were recorded, or elsewhere.
  price_id       text        not null,
  product_id     text        not null,
  -- For a quantity of 1; without a price, of the whole license. Null: as in the catalogue.
  machines       integer,
  -- Null: perpetual, or as long as the subscription is paid.
  duration_days  integer,
  -- Whether a license that is not a subscription ends at ends_at, whatever its term is.
  has_fixed_end  boolean     not null default false,
  ends_at        timestamptz,
  -- Of the line, in the currency's smallest unit; null: not reported.
  total          bigint,
  currency       text,
  sold_at        timestamptz not null,
  constraint billing_sales_pkey primary key (license_id, price_id)
);

-- The names by which a purchase finds a license from elsewhere that has no line in billing_licenses yet; distributed by
-- license_id.
create table license_names (
  license_id  uuid not null,
  -- transaction, subscription: ids at the provider; renewal: the end of the license, where a renewal begins.
  kind        text not null,
  name        text not null,
  -- Null: any provider.
  provider    text,
  constraint license_names_pkey primary key (license_id, kind, name),
  constraint license_names_kind_check check (kind in ('transaction', 'subscription', 'renewal'))
);
-- license_name_list_adoptable
create index license_names_name on license_names (name, kind);

-- Licenses that were sold keep what they have.
insert into billing_sales (license_id, price_id, product_id, machines, has_fixed_end, ends_at, sold_at)
select distinct on (l.id) l.id, '', l.product_id,
       case when l.granted_activations is null then l.max_activations end, true, l.expires_at, l.created_at
from billing_licenses billed join licenses l on l.id = billed.license_id;

insert into license_names (license_id, kind, name)
select t.license_id, 'transaction', t.transaction_id
from license_transactions t
where not exists (select from billing_licenses billed where billed.license_id = t.license_id);

insert into license_names (license_id, kind, name)
select distinct l.id, 'renewal', to_char(l.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
from license_names n join licenses l on l.id = n.license_id
where l.subscription and l.expires_at is not null;

-- Payments that need an operator, whatever the cause is.
drop index billing_events_unmatched;
-- billing_event_count_unmatched
create index billing_events_unmatched on billing_events (received_at, (provider || '/' || event_id))
  where status in ('processed', 'ignored')
    and (message like 'No product of the catalogue has the price %' or message like 'Needs attention: %');
-- billing_event_list_attention, billing_event_clear_attention
create index billing_events_attention on billing_events (event_id, provider)
  where status in ('processed', 'ignored')
    and (message like 'No product of the catalogue has the price %' or message like 'Needs attention: %');
