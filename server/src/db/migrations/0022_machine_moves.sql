-- A machine that a license has not known counts as a move; the catalogue limits how many there are within a period.
alter table activations add column counts_as_move boolean not null default true;
-- For activation_find_move: the newest moves of a license.
create index activations_moves on activations (license_id, activated_at desc) where counts_as_move;
-- Moves that an operator allowed beyond the limit and that are not used yet.
alter table licenses add column extra_moves integer not null default 0 check (extra_moves between 0 and 1000000);
