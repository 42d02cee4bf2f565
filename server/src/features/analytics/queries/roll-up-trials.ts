import type { Queryable } from '#server/db/statement.ts';

import type { Day } from '../rules/days.ts';
import { startOf } from '../rules/periods.ts';
import { runLong } from './run-long.ts';

/** A license that is activated within so many days of a trial's start was bought because of it. */
export const CONVERSION_DAYS = 14;

/** Takes back what was rolled up of trials from a week on. */
export async function deleteTrialWeeks(db: Queryable, from: Day): Promise<void> {
  await runLong(db, 'delete from trial_weeks where week >= $1', [from]);
}

/**
 * Counts the trials that began in each week, and those of them after whose start a license that is no trial was activated
 * on the same machine, or by the same install.
 * @param from a Monday
 */
export async function insertTrialWeeks(db: Queryable, from: Day): Promise<void> {
  const text = `
    with trial as materialized (
      select id, created_at, created_at + interval '${CONVERSION_DAYS} days' as ends_at,
             (created_at at time zone 'UTC')::date as day
      from licenses where trial and created_at >= $1
    ), place as materialized (
      select trial.id, trial.created_at, trial.ends_at, machine_id, install_id
      from trial join activations on license_id = trial.id
    ), sold as materialized (
      select machine_id, install_id, activated_at
      from activations join licenses on licenses.id = license_id
      where not trial and activated_at >= $1
    ), paid as (
      select place.id from place join sold using (machine_id)
      where activated_at >= place.created_at and activated_at < ends_at
      union
      select place.id from place join sold using (install_id)
      where activated_at >= place.created_at and activated_at < ends_at
    )
    insert into trial_weeks (week, trials, paid)
    select day - (extract(isodow from day)::integer - 1), count(*), count(paid.id)
    from trial left join paid using (id)
    group by 1`;
  await runLong(db, text, [startOf(from)]);
}
