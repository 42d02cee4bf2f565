import type { UsageRetention } from '@latchkey/contract';
import { exportRetention, reportRetention } from '@latchkey/contract/admin/usage';

import { useOperation } from '#console/app/call.ts';
import { CsvButton, exportOf } from '#console/ui/csv-button.tsx';
import { Empty } from '#console/ui/empty.tsx';
import { formatDay, formatNumber, formatPercent } from '#console/ui/format.ts';
import { Loaded } from '#console/ui/loaded.tsx';
import { isUnfinished } from '#console/ui/unfinished.ts';

import { usePeriod } from './period-picker.tsx';

const WEEK_MS = 7 * 86_400_000;
const MIN_WEEKS = 12;

/** The machines of each first week that are still active, week by week: at least twelve weeks. */
export function RetentionTable() {
  const { from, to } = usePeriod();
  const earliest = new Date(Date.parse(to) - MIN_WEEKS * WEEK_MS).toISOString().slice(0, 10);
  const input = { query: { from: from < earliest ? from : earliest, to } };
  return (
    <div class="stack">
      <Loaded resource={useOperation(reportRetention, input)}>
        {({ cohorts }) =>
          cohorts.length === 0 ? (
            <Empty title="No machine was new in these weeks." />
          ) : (
            <Cohorts cohorts={cohorts} />
          )
        }
      </Loaded>
      <div class="pages">
        <CsvButton {...exportOf(exportRetention, input)} label="Export retention" />
      </div>
    </div>
  );
}

function Cohorts({ cohorts }: Pick<UsageRetention, 'cohorts'>) {
  const weeks = Math.max(
    ...cohorts.map(({ active, week }) => active.filter((_, index) => isShown(week, index)).length),
  );
  const caption = 'Machines by their first week, and how many were active in the weeks after';
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label={caption}>
      <table class="retention">
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">First week</th>
            <th scope="col" class="number">
              Machines
            </th>
            {Array.from({ length: weeks }, (_, week) => (
              <th key={week} scope="col" class="number">
                {week === 0 ? 'Week 0' : `+${week}`}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {cohorts.map(({ week, machines, active }) => (
            <tr key={week}>
              <th scope="row">{formatDay(week)}</th>
              <td class="number">{formatNumber(machines)}</td>
              {active
                .filter((_, index) => isShown(week, index))
                .map((count, index) => (
                  <td
                    key={index}
                    class="number"
                    style={{ '--share': machines === 0 ? 0 : count / machines }}
                  >
                    {machines === 0
                      ? '–'
                      : formatPercent(Math.round((count / machines) * 100) / 100)}
                  </td>
                ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Weeks that are not over are left out, except the first of a cohort, which has all of its machines. */
function isShown(firstWeek: string, index: number): boolean {
  const start = new Date(Date.parse(firstWeek) + index * WEEK_MS).toISOString();
  return index === 0 || !isUnfinished(start, 'week');
}
