import type { TrialReport } from '@latchkey/contract';
import { exportTrialReport, reportTrials } from '@latchkey/contract/admin/trials';

import { useOperation } from '#console/app/call.ts';
import { changeQuery, query } from '#console/app/router.ts';
import { Chart } from '#console/ui/chart.tsx';
import { CsvButton, exportOf } from '#console/ui/csv-button.tsx';
import { Empty } from '#console/ui/empty.tsx';
import { Figures } from '#console/ui/figures.tsx';
import { formatDate, formatNumber, formatPercent } from '#console/ui/format.ts';
import { Loaded } from '#console/ui/loaded.tsx';
import { Section } from '#console/ui/page.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';
import { isUnfinished } from '#console/ui/unfinished.ts';

type Week = TrialReport['weeks'][number];

/** How many trials led to a license, by week and by product. */
export function ConversionReport() {
  const { value } = query;
  const [from, to] = [value.get('from') ?? '', value.get('to') ?? ''];
  const input = { query: { from, to } };
  const report = useOperation(reportTrials, input);
  return (
    <div class="data-table">
      <div class="filters">
        <Day name="from" label="From" value={from || (report.data?.from ?? '')} />
        <Day name="to" label="To" value={to || (report.data?.to ?? '')} />
        <CsvButton {...exportOf(exportTrialReport, input)} />
      </div>
      <Loaded resource={report}>{(data) => <Report report={data} />}</Loaded>
    </div>
  );
}

function Day(props: { readonly name: string; readonly label: string; readonly value: string }) {
  const { label, name, value } = props;
  return (
    <div class="filter">
      <label for={`trials-${name}`}>{label}</label>
      <input
        id={`trials-${name}`}
        type="date"
        value={value}
        onChange={(event) => changeQuery({ [name]: event.currentTarget.value })}
      />
    </div>
  );
}

function Report({ report }: { readonly report: TrialReport }) {
  if (report.trials === 0) {
    return <Empty title="No trials in these weeks">Choose an earlier first day.</Empty>;
  }
  const { weeks } = report;
  return (
    <>
      <Figures
        items={[
          { label: 'Trials', value: formatNumber(report.trials) },
          { label: 'Converted', value: formatNumber(report.converted) },
          { label: 'Conversion', value: formatPercent(report.share) },
        ]}
      />
      <Section
        title="By week"
        intro="A trial converts when a license is activated within 14 days on the same machine or by the same install. Weeks marked with * may still gain: the lines end before them."
      >
        <div class="stack">
          {weeks.length > 1 && (
            <Chart
              label="Trials and conversions by week"
              times={weeks.map(({ week }) => week)}
              series={[
                {
                  label: 'Trials',
                  values: weeks.map(({ trials }) => trials),
                  openFrom: weeks.findLastIndex(({ week }) => !isUnfinished(week, 'week')) + 1,
                },
                {
                  label: 'Converted',
                  values: weeks.map(({ converted }) => converted),
                  openFrom: weeks.findLastIndex(({ open }) => !open) + 1,
                },
              ]}
            />
          )}
          <Weeks weeks={weeks.toReversed()} />
        </div>
      </Section>
      <Products report={report} />
    </>
  );
}

function Products({ report }: { readonly report: TrialReport }) {
  const { products, purchases } = report;
  return (
    <>
      <Section title="By product" intro="What was tried.">
        <PlainTable
          caption="Trials by product"
          rows={products}
          rowKey={(row) => row.product_id}
          columns={[
            { key: 'product', label: 'Product', grow: true, cell: (row) => row.product_id },
            {
              key: 'trials',
              label: 'Trials',
              align: 'end',
              cell: (row) => formatNumber(row.trials),
            },
            {
              key: 'converted',
              label: 'Converted',
              align: 'end',
              cell: (row) => formatNumber(row.converted),
            },
            { key: 'share', label: 'Share', align: 'end', cell: (row) => formatPercent(row.share) },
          ]}
        />
      </Section>
      <Section title="What was bought" intro="The product of the license that followed.">
        <PlainTable
          caption="Conversions by product"
          rows={purchases}
          rowKey={(row) => row.product_id}
          empty="No trial of these weeks has led to a license yet."
          columns={[
            { key: 'product', label: 'Product', grow: true, cell: (row) => row.product_id },
            {
              key: 'converted',
              label: 'Conversions',
              align: 'end',
              cell: (row) => formatNumber(row.converted),
            },
          ]}
        />
      </Section>
    </>
  );
}

function Weeks({ weeks }: { readonly weeks: readonly Week[] }) {
  return (
    <PlainTable
      caption="Trials by week"
      rows={weeks}
      rowKey={({ week }) => week}
      columns={[
        {
          key: 'week',
          label: 'Week from',
          grow: true,
          cell: ({ open, week }) => `${formatDate(`${week}T12:00:00Z`)}${open ? ' *' : ''}`,
        },
        { key: 'trials', label: 'Trials', align: 'end', cell: (row) => formatNumber(row.trials) },
        {
          key: 'converted',
          label: 'Converted',
          align: 'end',
          cell: (row) => formatNumber(row.converted),
        },
        { key: 'share', label: 'Share', align: 'end', cell: (row) => formatPercent(row.share) },
      ]}
    />
  );
}
