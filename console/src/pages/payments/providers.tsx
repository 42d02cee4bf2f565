import type { PaymentSummary } from '@latchkey/contract';

import { Badge } from '#console/ui/badge.tsx';
import { Section } from '#console/ui/page.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';
import { Time } from '#console/ui/time.tsx';
import { nameProvider } from '#console/ui/labels.ts';

type Provider = PaymentSummary['providers'][number];

/** Which providers are connected, and when each sent something last. */
export function Providers({ summary }: { readonly summary: PaymentSummary }) {
  const { reconciliation: compared } = summary;
  return (
    <Section title="Providers" intro={<Comparison compared={compared} />}>
      <PlainTable<Provider>
        caption="Payment providers"
        rows={summary.providers}
        rowKey={({ provider }) => provider}
        columns={[
          {
            key: 'provider',
            label: 'Provider',
            grow: true,
            cell: (each) => nameProvider(each.provider),
          },
          {
            key: 'configured',
            label: 'Webhook',
            cell: ({ configured }) => (
              <Badge tone={configured ? 'good' : 'muted'}>
                {configured ? 'connected' : 'not connected'}
              </Badge>
            ),
          },
          {
            key: 'last',
            label: 'Last event',
            cell: (each) => <Time at={each.last_received_at} as="relative" />,
          },
        ]}
      />
    </Section>
  );
}

function Comparison({ compared }: { readonly compared: PaymentSummary['reconciliation'] }) {
  if (!compared.configured) {
    return <>With an API key of Paddle, missed events are found every hour.</>;
  }
  if (compared.failed_at !== null) {
    return (
      <>
        Paddle’s event log could not be compared: {compared.failure}. Last tried{' '}
        <Time at={compared.failed_at} as="relative" />.
      </>
    );
  }
  return (
    <>
      Paddle’s event log was compared <Time at={compared.reconciled_at} as="relative" />.
    </>
  );
}
