import { useId } from 'preact/hooks';

import { changeQuery, query } from '#console/app/router.ts';
import { serviceNowMs } from '#console/app/service-clock.ts';

import { PERIOD_DAYS, readPeriod, type Period } from './period.ts';

/** Returns the period of the address. */
export function usePeriod(): Period {
  return readPeriod(query.value, serviceNowMs());
}

/** Chooses the days of a report; the address holds them. */
export function PeriodPicker() {
  const { days, from, to } = usePeriod();
  return (
    <div class="period">
      <div class="ready" role="group" aria-label="Period">
        {PERIOD_DAYS.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={days === each}
            onClick={() =>
              changeQuery({ days: each === 30 ? null : String(each), from: null, to: null })
            }
          >
            {each} days
          </button>
        ))}
      </div>
      <DayField
        label="From"
        value={from}
        max={to}
        onChange={(day) => changeQuery({ from: day, to, days: null })}
      />
      <DayField
        label="To"
        value={to}
        min={from}
        onChange={(day) => changeQuery({ from, to: day, days: null })}
      />
    </div>
  );
}

interface DayFieldProps {
  readonly label: string;
  readonly value: string;
  readonly min?: string;
  readonly max?: string;
  readonly onChange: (day: string) => void;
}

function DayField({ label, value, onChange, ...limits }: DayFieldProps) {
  const id = useId();
  return (
    <div class="filter">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="date"
        value={value}
        {...limits}
        onChange={({ currentTarget }) => {
          if (currentTarget.value !== '') onChange(currentTarget.value);
        }}
      />
    </div>
  );
}
