-- What operators repaired in purchases: facts beside those of the providers, never changed; distributed by transaction_id.
create table billing_repairs (
  -- Of a payment; empty: a price that stands for a product in every purchase of the provider.
  transaction_id text        not null,
  provider       text        not null,
  repair_id      uuid        not null,
  occurred_at    timestamptz not null,
  fact           jsonb       not null,
  -- billing_purchase_list_entries, billing_repair_list_prices
  constraint billing_repairs_pkey primary key (transaction_id, provider, repair_id)
);
