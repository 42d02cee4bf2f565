-- What grows large and is read by a part of it only.

-- The slots taken of a license, however many machines came and went. A validation changes neither column, so it stays a
-- heap-only update.
create index activations_active on activations (license_id) where deactivated_at is null;

-- The trials in the order of their making, among all licenses.
create index licenses_trials on licenses (id) where trial;
