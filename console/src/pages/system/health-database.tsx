import type { ServiceHealth } from '@latchkey/contract';

import { Figures } from '#console/ui/figures.tsx';
import { formatNumber } from '#console/ui/format.ts';
import { Section } from '#console/ui/page.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';

import { formatBytes } from './format-interval.ts';

/** The size of the database, its connections and its largest tables. */
export function Database({ health: { database } }: { readonly health: ServiceHealth }) {
  const { pool, tables } = database;
  return (
    <>
      <Figures
        items={[
          { label: 'Size', value: formatBytes(database.bytes), note: database.kind },
          {
            label: 'Connections of the server',
            value: `${database.connections} of ${database.max_connections}`,
            note: 'of all programs',
          },
          {
            label: 'Connections of this process',
            value: `${pool.open - pool.idle} of ${pool.size}`,
            note: `busy, ${pool.waiting === 0 ? 'no call waits' : `${pool.waiting} calls wait`}`,
          },
        ]}
      />
      <Section title="Largest tables" intro="With their indexes. Numbers of rows are estimates.">
        <PlainTable
          caption="Largest tables"
          rows={tables}
          rowKey={({ name }) => name}
          columns={[
            { key: 'name', label: 'Table', grow: true, cell: ({ name }) => <code>{name}</code> },
            {
              key: 'rows',
              label: 'Rows',
              align: 'end',
              cell: ({ rows }) => formatNumber(rows),
            },
            {
              key: 'bytes',
              label: 'Size',
              align: 'end',
              cell: ({ bytes }) => formatBytes(bytes),
            },
          ]}
        />
      </Section>
    </>
  );
}
