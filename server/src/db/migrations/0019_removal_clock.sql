-- One row: how far removal of old usage and events has counted time, so that a clock that leaps ahead removes nothing much
-- at once. It begins where roll-ups were last up to date, which is before any clock could have gone wrong since.
create table removal_clock (
  id          boolean      not null primary key default true check (id),
  reached_at  timestamptz  not null,
  moved_at    timestamptz  not null
);
insert into removal_clock (reached_at, moved_at) select finished_at, finished_at from rollup_run;
