-- Limits of sign-ins and of e-mails that outlive a restart, and the backup eligibility of passkeys. Each table is small: the
-- statements take milliseconds.

-- The networks from which operators signed in within 30 days, also after they signed out there. Older rows are removed at the next
-- sign-in of any operator.
create table operator_networks (
  operator_id        uuid        not null,
  -- As in operator_sessions.
  network            text        not null,
  last_signed_in_at  timestamptz not null,
  constraint operator_networks_pkey primary key (operator_id, network)
);
insert into operator_networks (operator_id, network, last_signed_in_at)
  select operator_id, network, max(created_at) from operator_sessions group by operator_id, network;

-- Whether the authenticator may copy the passkey to other devices; it never changes. Null: registered by an earlier version, which did
-- not store it, and not used since. A copied passkey is eligible by definition.
alter table operator_passkeys add column is_backup_eligible boolean;
update operator_passkeys set is_backup_eligible = true where is_synced;

-- The keyed hash of the address without its sub-address (RFC 5233), and the newest attempt to send the e-mail. Null: an earlier version
-- stored the row.
alter table subscriber_confirmations add column mailbox_hash bytea, add column attempted_at timestamptz;
-- subscriber_confirmation_find_earlier
create index subscriber_confirmations_by_mailbox on subscriber_confirmations (mailbox_hash, attempted_at desc)
  where mailbox_hash is not null;

-- From now on, the row of a code stays for a day, which counts it, and loses its address an hour after it expired.
-- buyer_code_forget_address
create index buyer_codes_with_address on buyer_codes (expires_at) where email_sealed <> '';
