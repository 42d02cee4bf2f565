import type { UsageReport } from '@latchkey/contract';

import { Figures } from '#console/ui/figures.tsx';
import { formatDay, formatNumber } from '#console/ui/format.ts';
import { isUnfinished } from '#console/ui/unfinished.ts';

import { Change } from './change.tsx';
import { describeLast } from './describe-last.ts';

/** Mean, sum, last and largest number of machines. */
export function MachineFigures({ report: { by, periods } }: { readonly report: UsageReport }) {
  const peak = periods.reduce((best, each) => (each.machines > best.machines ? each : best));
  const last = periods.at(-1);
  // A period that is not over would lower the mean.
  const finished = periods.filter(({ starts }) => !isUnfinished(starts, by));
  const compared = finished.length === 0 ? periods : finished;
  const now = compared.map(({ machines }) => machines);
  const before = compared.map(({ previous_machines: machines }) => machines);
  return (
    <Figures
      items={[
        {
          label: `Machines each ${by}, on average`,
          value: formatNumber(Math.round(mean(now))),
          note: (
            <>
              <Change now={mean(now)} before={mean(before)} /> since the period before
            </>
          ),
        },
        {
          label: `Machine ${by}s`,
          value: formatNumber(sum(now)),
          note: `${formatNumber(sum(before))} before`,
        },
        ...(last === undefined ? [] : [describeLast(last.starts, by, last.machines)]),
        { label: `Peak ${by}`, value: formatNumber(peak.machines), note: formatDay(peak.starts) },
      ]}
    />
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function mean(values: readonly number[]): number {
  return sum(values) / Math.max(1, values.length);
}
