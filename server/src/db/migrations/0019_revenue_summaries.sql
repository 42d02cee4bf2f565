-- The sums of billing_revenue_months without product or country: most reports read these few rows.
create table billing_revenue_summaries (
  -- What rows are divided by, beside month, provider and currency: product, country; empty: neither.
  divided_by                text   not null,
  month                     date   not null,
  provider                  text   not null,
  -- Empty: unknown, or not divided by it.
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
  -- billing_revenue_report_summary
  constraint billing_revenue_summaries_pkey primary key (divided_by, month, provider, product_id, country, currency)
);
-- No payment is counted until the table is filled.
select pg_advisory_xact_lock(hashtextextended('latchkey revenue', 0));
insert into billing_revenue_summaries
select divided_by, month, provider, case divided_by when 'product' then product_id else '' end,
       case divided_by when 'country' then country else '' end, currency,
       sum(payments), sum(gross), sum(tax), sum(fees), sum(refunds), sum(refunded_tax), sum(disputes), sum(disputed_tax),
       sum(mrr_new), sum(mrr_expansion), sum(mrr_contraction), sum(mrr_lost), sum(mrr_reactivated),
       sum(subscriptions_new), sum(subscriptions_lost), sum(subscriptions_reactivated)
from billing_revenue_months cross join unnest(array['', 'product', 'country']) as divided_by
group by 1, 2, 3, 4, 5, 6;

-- When a purchase is counted. It is after marked_at if counting it failed.
alter table billing_revenue_due add column due_at timestamptz not null default now();
-- billing_revenue_due_take
create index billing_revenue_due_next on billing_revenue_due (due_at);
