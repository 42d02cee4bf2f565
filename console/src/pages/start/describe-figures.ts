import type { Figure } from '@latchkey/contract';

import type { Figure as ShownFigure } from '#console/ui/figures.tsx';
import { formatNumber, formatPercent } from '#console/ui/format.ts';

/** Labels of the figures, and the pages with their details. */
const ABOUT: Readonly<Record<string, { readonly label: string; readonly to: string }>> = {
  usable_licenses: { label: 'Active licenses', to: '/licenses?status=active' },
  new_licenses: { label: 'New licenses', to: '/licenses' },
  trials_started: { label: 'Trials started', to: '/trials' },
  active_machines: { label: 'Daily active machines', to: '/usage' },
};

/** Converts the figures of the overview: four, the conversions with the trials. */
export function describeFigures(figures: readonly Figure[]): ShownFigure[] {
  const converted = figures.find(({ name }) => name === 'trials_converted');
  return figures.flatMap((figure) => {
    const about = ABOUT[figure.name];
    if (about === undefined) return [];
    const isTrials = figure.name === 'trials_started';
    return [
      {
        ...about,
        value: figure.value === null ? '–' : formatNumber(Math.round(figure.value)),
        note: isTrials ? describeTrials(figure, converted) : describeChange(figure),
        // The last day is today, whose numbers are not complete.
        series: figure.days.slice(0, -1).map((value) => value ?? 0),
        before: figure.previous_days.slice(0, -1).map((value) => value ?? 0),
      },
    ];
  });
}

function describeTrials({ value }: Figure, converted: Figure | undefined): string {
  const paid = converted?.value ?? 0;
  if (value === null || value === 0) return 'none in 30 days';
  return `${formatNumber(paid)} converted so far (${formatPercent(paid / value)})`;
}

/** Such as `+12%, 30 days before: 100`. */
export function describeChange({ previous, value }: Pick<Figure, 'previous' | 'value'>): string {
  if (value === null) return 'not counted yet';
  if (previous === null) return 'no earlier numbers';
  const before = `30 days before: ${formatNumber(Math.round(previous))}`;
  if (previous === 0) return before;
  const change = value / previous - 1;
  const sign = change > 0 ? '+' : change < 0 ? '−' : '±';
  return `${sign}${Math.round(Math.abs(change) * 100)}%, ${before}`;
}
