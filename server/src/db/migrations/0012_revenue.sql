-- What each payment adds to revenue, so that a change of its purchase can be subtracted; distributed by transaction_id.
create table billing_revenue (
  transaction_id text not null,
  provider       text not null,
  -- JSON.
  entries        text not null,
  constraint billing_revenue_pkey primary key (transaction_id, provider)
);

-- Purchases that are to be counted again; a row is added with each fact and deleted when it is counted.
create table billing_revenue_due (
  due_id   uuid not null default gen_random_uuid(),
  provider text not null,
  -- transaction, subscription
  kind     text not null,
  id       text not null,
  constraint billing_revenue_due_pkey primary key (due_id)
);

-- Roll-up by month: money by the month in which it was paid or paid back, in the smallest unit of the currency.
create table billing_revenue_months (
  month                     date   not null,
  provider                  text   not null,
  -- Empty: unknown.
  product_id                text   not null,
  country                   text   not null,
  currency                  text   not null,
  payments                  bigint not null,
  gross                     bigint not null,
  tax                       bigint not null,
  fees                      bigint not null,
  refunds                   bigint not null,
  refunded_tax              bigint not null,
  disputes                  bigint not null,
  disputed_tax              bigint not null,
  mrr_new                   bigint not null,
  mrr_expansion             bigint not null,
  mrr_contraction           bigint not null,
  mrr_lost                  bigint not null,
  mrr_reactivated           bigint not null,
  subscriptions_new         bigint not null,
  subscriptions_lost        bigint not null,
  subscriptions_reactivated bigint not null,
  constraint billing_revenue_months_pkey primary key (month, provider, product_id, country, currency)
);

-- Roll-up by day of recurring revenue, for the part of a month that has passed.
create table billing_revenue_days (
  day                       date   not null,
  provider                  text   not null,
  product_id                text   not null,
  country                   text   not null,
  currency                  text   not null,
  mrr_new                   bigint not null,
  mrr_expansion             bigint not null,
  mrr_contraction           bigint not null,
  mrr_lost                  bigint not null,
  mrr_reactivated           bigint not null,
  subscriptions_new         bigint not null,
  subscriptions_lost        bigint not null,
  subscriptions_reactivated bigint not null,
  constraint billing_revenue_days_pkey primary key (day, provider, product_id, country, currency)
);

-- How far payments from before the roll-up were counted; one row.
create table billing_revenue_backfill (
  backfill_id    smallint    not null default 1,
  transaction_id text        not null,
  provider       text        not null,
  counted        bigint      not null,
  -- Null: it is not finished.
  finished_at    timestamptz,
  constraint billing_revenue_backfill_pkey primary key (backfill_id),
  constraint billing_revenue_backfill_id_check check (backfill_id = 1)
);
insert into billing_revenue_backfill (transaction_id, provider, counted, finished_at)
select '', '', 0, case when exists (select from billing_payments) then null else now() end;
