import type { Breakdown, BreakdownItem } from '@latchkey/contract';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { hrefOf } from '#console/app/router.ts';
import { Button } from '#console/ui/button.tsx';
import { formatNumber, formatPercent } from '#console/ui/format.ts';
import { PlainTable } from '#console/ui/plain-table.tsx';
import { Sparkline } from '#console/ui/sparkline.tsx';
import { isUnfinished } from '#console/ui/unfinished.ts';

import { Change } from './change.tsx';

interface BreakdownTableProps {
  readonly caption: string;
  /** The heading of the values, such as `Version`. */
  readonly label: string;
  /** What is counted, such as `Events`. */
  readonly measure: string;
  readonly data: Breakdown;
  /** The last day of the trends, which end before it while it is not over. */
  readonly to: string;
  readonly empty: string;
  /** The page of a value. */
  readonly link?: (value: string) => string;
  /** Whether the most installs on a day are shown. Default: false. */
  readonly hasInstalls?: boolean;
}

const FIRST_ROWS = 20;

/** Values with their counts, shares and trends, beside the previous period. */
export function BreakdownTable(props: BreakdownTableProps) {
  const { caption, data, empty, hasInstalls = false, label, measure, to } = props;
  const isOpen = isUnfinished(to, 'day');
  const [isWhole, setWhole] = useState(false);
  const rows = isWhole ? data.items : data.items.slice(0, FIRST_ROWS);
  const installs = {
    key: 'installs',
    label: 'Peak installs',
    align: 'end' as const,
    hideWhenNarrow: true,
    cell: (item: BreakdownItem) => (item.installs === null ? '–' : formatNumber(item.installs)),
  };
  return (
    <>
      <PlainTable<BreakdownItem>
        caption={caption}
        rows={rows}
        rowKey={({ value }) => (value === null ? 'others' : `=${value}`)}
        empty={empty}
        columns={[
          {
            key: 'value',
            label,
            grow: true,
            cell: (item) => <Value item={item} link={props.link} />,
          },
          {
            key: 'count',
            label: measure,
            align: 'end',
            cell: ({ count }) => formatNumber(count),
          },
          { key: 'share', label: 'Share', align: 'end', cell: ({ share }) => formatPercent(share) },
          {
            key: 'previous',
            label: 'Before',
            align: 'end',
            hideWhenNarrow: true,
            cell: ({ previous_count: before }) => formatNumber(before),
          },
          {
            key: 'change',
            label: 'Change',
            align: 'end',
            cell: (item) => <Change now={item.count} before={item.previous_count} />,
          },
          ...(hasInstalls ? [installs] : []),
          {
            key: 'trend',
            label: 'Trend',
            hideWhenNarrow: true,
            cell: (item) => (
              <div class="trend">
                <Sparkline
                  values={isOpen ? item.trend.slice(0, -1) : item.trend}
                  label={`Trend of ${describe(item.value)}`}
                />
              </div>
            ),
          },
        ]}
      />
      {rows.length < data.items.length && (
        <div class="pages">
          <Button onClick={() => setWhole(true)}>Show all {formatNumber(data.items.length)}</Button>
        </div>
      )}
    </>
  );
}

function describe(value: string | null): string {
  if (value === null) return 'All others';
  return value === '' ? 'Unknown' : value;
}

interface ValueProps {
  readonly item: BreakdownItem;
  readonly link: BreakdownTableProps['link'];
}

function Value({ item: { value, share, previous_share: before }, link }: ValueProps) {
  const text: ComponentChildren =
    value === null || value === '' ? <span class="dim">{describe(value)}</span> : value;
  return (
    <div class="share">
      {link === undefined || value === null ? text : <a href={hrefOf(link(value))}>{text}</a>}
      <svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        <rect class="before" width={before * 100} height="4" />
        <rect class="now" width={share * 100} height="4" />
      </svg>
    </div>
  );
}
