import type { ComponentChildren } from 'preact';

import { hrefOf } from '#console/app/router.ts';

import { Sparkline } from './sparkline.tsx';

/** A number with its meaning. */
export interface Figure {
  readonly label: string;
  readonly value: ComponentChildren;
  /** Such as the change since the previous period. */
  readonly note?: ComponentChildren;
  /** The values of the last periods, oldest first. */
  readonly series?: readonly number[];
  /** The values of the same number of periods before, drawn dashed. */
  readonly before?: readonly number[];
  /** The page with its details. */
  readonly to?: string;
}

/** Numbers side by side, each with a sparkline and a link to its page. */
export function Figures({ items }: { readonly items: readonly Figure[] }) {
  return (
    <dl class="figures">
      {items.map(({ label, value, note, series, before, to }) => (
        <div key={label}>
          <dt>{to === undefined ? label : <a href={hrefOf(to)}>{label}</a>}</dt>
          <dd class="value">{value}</dd>
          {note && <dd class="dim">{note}</dd>}
          {series && series.length > 1 && (
            <dd class="spark">
              <Sparkline
                values={series}
                before={before ?? []}
                label={`${label}, last ${series.length} values`}
              />
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}
