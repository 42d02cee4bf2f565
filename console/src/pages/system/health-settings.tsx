import { listSettings } from '@latchkey/contract/admin/health';

import { useOperation } from '#console/app/call.ts';
import { Badge } from '#console/ui/badge.tsx';
import { Loaded } from '#console/ui/loaded.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';

/** The settings with which the service was started. */
export function Settings() {
  const settings = useOperation(listSettings, {});
  return (
    <Loaded resource={settings}>
      {({ items, warnings }) => (
        <>
          {warnings.map((text) => (
            <p key={text} class="notice warning">
              {text}
            </p>
          ))}
          <PlainTable
            caption="Settings since the start"
            rows={items}
            rowKey={({ name }) => name}
            empty="This service did not report its settings."
            columns={[
              { key: 'name', label: 'Setting', cell: ({ name }) => <code>{name}</code> },
              {
                key: 'value',
                label: 'Value',
                grow: true,
                cell: ({ value }) => value ?? <span class="dim">not set</span>,
              },
              {
                key: 'origin',
                label: 'From',
                cell: ({ origin }) =>
                  origin === 'set' ? (
                    <Badge tone="info">set</Badge>
                  ) : (
                    <span class="dim">default</span>
                  ),
              },
            ]}
          />
          <p class="dim small">Settings are read at the start. Secrets are never shown.</p>
        </>
      )}
    </Loaded>
  );
}
