-- Roll-ups: what reports are made of. They stay when the events and days of use that they sum up are removed, and hold
-- nobody's id but for usage_first_days. Days, weeks (from Monday) and months are those of UTC; of events, the day of arrival.
--
-- Texts come from clients, in any number: the most frequent ones have rows of their own, by their rank; the rest is summed
-- up in the row behind them, whose text is null.

-- What was rolled up. The measure is how much was there, so that a change is found without rolling up again; null asks for
-- it.
create table rollup_marks (
  source     text        not null,
  day        date        not null,
  measure    bigint,
  rolled_at  timestamptz not null,
  primary key (source, day)
);

-- One row: when everything was last found up to date, and what that took.
create table rollup_run (
  id           boolean     not null primary key default true check (id),
  finished_at  timestamptz not null,
  took_ms      integer     not null
);

create table event_name_days (
  day       date     not null,
  rank      smallint not null,
  name      text,
  events    bigint   not null,
  -- How many installs sent it; of the rest it is not known.
  installs  bigint,
  primary key (day, rank)
);

create table event_days (
  name         text     not null,
  day          date     not null,
  rank         smallint not null,
  app_version  text,
  events       bigint   not null,
  installs     bigint,
  primary key (name, day, rank)
);
create index event_days_day on event_days (day);

create table event_prop_days (
  name    text     not null,
  day     date     not null,
  key     text     not null,
  rank    smallint not null,
  value   text,
  events  bigint   not null,
  primary key (name, day, key, rank)
);
create index event_prop_days_day on event_prop_days (day);

-- Machines in use, each counted once.
create table usage_totals (
  period    text   not null check (period in ('day', 'week', 'month')),
  starts    date   not null,
  machines  bigint not null,
  primary key (period, starts)
);

-- An empty version was not told.
create table usage_version_days (
  day          date     not null,
  rank         smallint not null,
  app_version  text,
  machines     bigint   not null,
  primary key (day, rank)
);

create table usage_system_days (
  day         date     not null,
  rank        smallint not null,
  os_version  text,
  machines    bigint   not null,
  primary key (day, rank)
);

-- Spread by machine_key: when each machine was first used, for the day itself is removed one day.
create table usage_first_days (
  machine_key  uuid not null primary key,
  first_day    date not null
);

-- Of the machines first used in the week of the cohort, those in use in another week.
create table usage_retention (
  cohort    date   not null,
  week      date   not null,
  machines  bigint not null,
  primary key (cohort, week)
);

create table trial_weeks (
  week    date   not null primary key,
  trials  bigint not null,
  paid    bigint not null
);

-- Trials by their start; no validation writes it.
create index licenses_trials_started on licenses (created_at) where trial;
