-- What payment providers tell, kept as it came and as it is understood; and which licenses it made.

-- Spread by event_id. Every verified delivery is kept raw, applied or not, so that nothing is lost and all can be replayed.
create table billing_events (
  event_id         text        not null,
  provider         text        not null,
  type             text        not null,
  occurred_at      timestamptz not null,
  received_at      timestamptz not null,
  -- The body as it was signed, and the headers that it is understood by; never the signature.
  raw              text        not null,
  headers          jsonb       not null,
  -- deferred: could not be applied and is tried again; failed: given up until somebody replays it.
  status           text        not null check (status in ('processed', 'ignored', 'deferred', 'failed')),
  -- Why it was ignored, deferred or failed; for people.
  message          text,
  attempts         integer     not null default 1,
  -- When a deferred event is tried again.
  next_attempt_at  timestamptz,
  primary key (event_id, provider)
);
create index billing_events_deferred on billing_events (next_attempt_at) where status = 'deferred';
create index billing_events_unapplied on billing_events (status, received_at) where status <> 'processed';
create index billing_events_received on billing_events (received_at);

-- The ledgers: each row is what one event said, added once and never changed. What holds now is computed from all rows of
-- a purchase, so the order in which they came makes no difference.

-- Spread by transaction_id.
create table billing_payments (
  transaction_id   text        not null,
  provider         text        not null,
  event_id         text        not null,
  subscription_id  text,
  customer_id      text,
  occurred_at      timestamptz not null,
  fact             jsonb       not null,
  primary key (transaction_id, provider, event_id)
);
create index billing_payments_subscription on billing_payments (subscription_id, provider) where subscription_id is not null;
create index billing_payments_customer on billing_payments (customer_id, provider) where customer_id is not null;

-- Spread by alias: from the other ids of a payment to the payment.
create table billing_aliases (
  alias           text not null,
  provider        text not null,
  transaction_id  text not null,
  primary key (alias, provider, transaction_id)
);
create index billing_aliases_transaction on billing_aliases (transaction_id, provider);

-- Spread by subscription_id. Every snapshot of a subscription.
create table billing_subscriptions (
  subscription_id  text        not null,
  provider         text        not null,
  event_id         text        not null,
  transaction_id   text,
  customer_id      text,
  occurred_at      timestamptz not null,
  fact             jsonb       not null,
  primary key (subscription_id, provider, event_id)
);
create index billing_subscriptions_transaction on billing_subscriptions (transaction_id, provider) where transaction_id is not null;
create index billing_subscriptions_customer on billing_subscriptions (customer_id, provider) where customer_id is not null;

-- Spread by transaction_id: every word on money that went back, or is fought over.
create table billing_adjustments (
  transaction_id  text        not null,
  adjustment_id   text        not null,
  provider        text        not null,
  event_id        text        not null,
  occurred_at     timestamptz not null,
  fact            jsonb       not null,
  primary key (transaction_id, adjustment_id, provider, event_id)
);

-- Spread by customer_id: the newest word on each.
create table billing_customers (
  customer_id  text        not null,
  provider     text        not null,
  occurred_at  timestamptz not null,
  email        text,
  name         text,
  locale       text,
  primary key (customer_id, provider)
);

-- Spread by transaction_id: which license each line of a checkout made.
create table billing_licenses (
  transaction_id  text not null,
  provider        text not null,
  line_key        text not null,
  license_id      uuid not null,
  primary key (transaction_id, provider, line_key)
);
create index billing_licenses_license on billing_licenses (license_id);

-- A dispute is the provider's, a suspension the operator's: the end of one must not lift the other. What the operator
-- granted beyond the paid term outlasts the next renewal; 'infinity' is for ever.
alter table licenses add column disputed_at timestamptz;
alter table licenses add column extended_until timestamptz;
