-- The published key is computed from the sealed private key, and the moments at which a key starts and stops to sign are
-- part of what the seal authenticates. Keys that were sealed without them are deleted; the next start creates one.
delete from signing_keys;
alter table signing_keys drop column public_key;
-- When another key takes over; null until one is announced.
alter table signing_keys add column retired_at timestamptz;
