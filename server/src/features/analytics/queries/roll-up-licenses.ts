import type { Queryable } from '#server/db/statement.ts';

import { USABLE_UNTIL } from '../../licenses/rules/status-sql.ts';
import { type Day, startOf } from '../rules/days.ts';
import { runLong } from './run-long.ts';

/** A license activated within this time after the start of a trial counts as its conversion. */
const CONVERSION_DAYS = 14;

/**
 * Stores the license that each trial led to: the first one that was activated in time on the same machine or by the same
 * install. A stored conversion remains.
 * @param from of trials that started on this day or later
 */
export async function storeTrialConversions(db: Queryable, from: Day): Promise<void> {
  const text = `
    with trial_activation as materialized (
      select licenses.id, created_at, created_at + interval '${CONVERSION_DAYS} days' as ends_at, machine_id, install_id
      from licenses join activations on license_id = licenses.id
      where trial and created_at >= $1
    ), license_activation as materialized (
      select license_id, product_id, machine_id, install_id, activated_at
      from activations join licenses on licenses.id = license_id
      where not trial and not is_test and activated_at >= $1
    ), conversion as (
      select started.id, license_id, product_id, activated_at
      from trial_activation as started join license_activation using (machine_id)
      where activated_at >= started.created_at and activated_at < ends_at
      union all
      select started.id, license_id, product_id, activated_at
      from trial_activation as started join license_activation using (install_id)
      where activated_at >= started.created_at and activated_at < ends_at
    )
    insert into trial_conversions (trial_id, license_id, product_id, converted_at)
    select distinct on (id) id, license_id, product_id, activated_at from conversion
    order by id, activated_at, license_id
    on conflict (trial_id) do nothing`;
  await runLong(db, text, [startOf(from)]);
}

/** Counts the trials that started on each day, by their product and the product that they led to. */
export async function replaceTrialDays(db: Queryable, from: Day): Promise<void> {
  const text = `
    insert into trial_days (day, product_id, bought_product_id, trials)
    select (created_at at time zone 'UTC')::date, trial.product_id, coalesce(conversion.product_id, ''), count(*)
    from licenses as trial left join trial_conversions as conversion on conversion.trial_id = trial.id
    where trial.trial and created_at >= $1
    group by 1, 2, 3`;
  await runLong(db, 'delete from trial_days where day >= $1', [from]);
  await runLong(db, text, [startOf(from)]);
}

/**
 * Counts the licenses, without trials and those of test purchases, that were usable at the end of each day and those created on it, by the facts of now.
 * Reads all licenses once, whatever the number of days.
 * @param from the first day; the last one is that of `now`
 */
export async function upsertLicenseDays(db: Queryable, from: Day, now: Date): Promise<void> {
  const text = `
    with license as (
      select (created_at at time zone 'UTC')::date as created, ${USABLE_UNTIL} as ends_at
      from licenses where not trial and not is_test and created_at <= $2
    ), span as (
      select greatest(created, $1::date - 1) as starts,
             case when ends_at <= $2 then greatest((ends_at at time zone 'UTC')::date, $1::date - 1) end as ends,
             count(*) as licenses
      from license group by 1, 2
    )
    insert into license_days (day, usable, created)
    select step::date, coalesce(sum(licenses) filter (where ends is null or ends > step::date), 0),
           coalesce(sum(licenses) filter (where starts = step::date), 0)
    from generate_series($1::date, ($2::timestamptz at time zone 'UTC')::date, interval '1 day') as step
    left join span on starts <= step::date
    group by step
    on conflict (day) do update set usable = excluded.usable, created = excluded.created`;
  await runLong(db, text, [from, now]);
}
