import { formatPercent } from '#console/ui/format.ts';

import { relativeChange } from './period.ts';

interface ChangeProps {
  readonly now: number;
  readonly before: number;
}

/** The change since the previous period. More is not always better, so it has no color. */
export function Change({ now, before }: ChangeProps) {
  const change = relativeChange(now, before);
  if (change === null) return <span class="dim">{now === 0 ? '–' : 'new'}</span>;
  if (change >= 10) return <span class="dim">{`×${Math.round(change + 1)}`}</span>;
  const sign = change > 0 ? '+' : '';
  return <span class="dim">{`${sign}${formatPercent(change)}`}</span>;
}
