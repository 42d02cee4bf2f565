-- When a relay had the e-mail and did not say whether it took it: about this address, and not resolved since.
alter table key_emails add column unconfirmed_at timestamptz;
update key_emails set unconfirmed_at = claimed_at where state = 'waiting' and reason = 'unconfirmed';
