-- Those who asked for news, and those who want no mail. What is known of an address is found by its HMAC, so that it is
-- one whatever its spelling, and so that "never again" can be kept without the address.

-- Spread by address_hash.
create table suppressions (
  address_hash   bytea       not null primary key,
  -- unsubscribed: by a link in a mail; erased: all that was held was taken away; by_hand: by an operator.
  -- bounced and complained are for reports of mail that did not arrive or was called spam.
  reason         text        not null check (reason in ('unsubscribed', 'erased', 'by_hand', 'bounced', 'complained')),
  -- The last time that it was said.
  suppressed_at  timestamptz not null
);

-- Spread by address_hash. Whether somebody is subscribed is read from these facts and from suppressions; it is not stored.
create table subscribers (
  address_hash            bytea       not null primary key,
  -- Made of the HMAC: the same for the same address for good, and silent about when it was first seen.
  id                      uuid        not null,
  -- As it was first given. Null when the address was erased and asked for again: then it is not kept.
  email                   text,
  language                text        check (language in ('en', 'fr', 'de')),
  first_subscribed_at     timestamptz not null,
  -- When it was last asked for.
  subscribed_at           timestamptz not null,
  confirmed_at            timestamptz,
  -- double: confirmed from the mailbox; single: taken at its word, while no mail was sent.
  opt_in                  text        check (opt_in in ('single', 'double')),
  -- When the last mail that asks for a confirmation went out, and why the last one did not.
  confirmation_mailed_at  timestamptz,
  confirmation_problem    text,
  check ((confirmed_at is null) = (opt_in is null))
);
create index subscribers_by_time on subscribers (first_subscribed_at, id);
create index subscribers_pending on subscribers (subscribed_at) where confirmed_at is null;

-- Spread by token_hash: what the link in such a mail stands for.
create table subscriber_confirmations (
  -- SHA-256 of a token of 256 bits.
  token_hash    bytea       not null primary key,
  address_hash  bytea       not null,
  -- When it was asked for; a suppression that was said later is not lifted.
  requested_at  timestamptz not null,
  expires_at    timestamptz not null,
  mailed_at     timestamptz
);
create index subscriber_confirmations_by_address on subscriber_confirmations (address_hash);
create index subscriber_confirmations_by_end on subscriber_confirmations (expires_at);
