-- Spread by transaction_id: what became of the e-mail that brings a buyer the keys of a transaction.
create table key_emails (
  transaction_id  text        not null,
  provider        text        not null,
  -- sending: claimed, and perhaps sent already, if whoever claimed it was killed; refused: by the mail relay, for good;
  -- withheld: no license of the transaction is good.
  state           text        not null check (state in ('waiting', 'sending', 'sent', 'refused', 'withheld')),
  -- Why it waits, was refused or withheld; a short word.
  reason          text,
  -- Whose keys were sent.
  license_ids     uuid[]      not null default '{}',
  -- HMAC of the address that it was sent to last.
  address_hash    text,
  message_id      text,
  created_at      timestamptz not null,
  claimed_at      timestamptz,
  sent_at         timestamptz,
  primary key (transaction_id, provider)
);
create index key_emails_unsent on key_emails (state, reason, created_at) where state <> 'sent';
