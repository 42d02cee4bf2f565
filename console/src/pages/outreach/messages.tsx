import type { CampaignMessage } from '@latchkey/contract';
import { campaignMessages } from '@latchkey/contract/admin/outreach-report';

import type { Tone } from '#console/ui/badge.tsx';
import { Badge } from '#console/ui/badge.tsx';
import { ListTable } from '#console/ui/list-table.tsx';
import { Time } from '#console/ui/time.tsx';

type Result = CampaignMessage['result'];

const RESULTS: Readonly<Record<Result, { readonly label: string; readonly tone: Tone }>> = {
  waiting: { label: 'Waiting', tone: 'muted' },
  sending: { label: 'Being sent', tone: 'info' },
  sent: { label: 'Sent', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  suppressed: { label: 'Suppressed', tone: 'muted' },
  canceled: { label: 'Canceled', tone: 'muted' },
  unknown: { label: 'Unknown', tone: 'warning' },
  unsubscribed: { label: 'Unsubscribed after', tone: 'warning' },
};

interface MessagesProps {
  /** Of the campaign. */
  readonly id: string;
  readonly polls: boolean;
}

/** Each recipient with the outcome of the message. */
export function Messages({ id, polls }: MessagesProps) {
  return (
    <ListTable
      of={campaignMessages}
      params={{ id }}
      polls={polls}
      search="Complete address"
      rowKey={({ position }) => String(position)}
      columns={[
        {
          key: 'email',
          label: 'Address',
          grow: true,
          cell: ({ email }) => email ?? <span class="dim">erased</span>,
        },
        { key: 'name', label: 'Name', hideWhenNarrow: true, cell: ({ name }) => <bdi>{name}</bdi> },
        {
          key: 'result',
          label: 'Result',
          cell: ({ result }) => <Badge tone={RESULTS[result].tone}>{RESULTS[result].label}</Badge>,
        },
        {
          key: 'error',
          label: 'Reason',
          cell: ({ error, result }) =>
            error === null || result === 'suppressed' ? '' : <code>{error}</code>,
        },
        {
          key: 'ended_at',
          label: 'When',
          cell: (each) => <Time at={each.ended_at} never="not yet" />,
        },
      ]}
      filters={[
        {
          name: 'result',
          label: 'Result',
          options: Object.entries(RESULTS).map(([value, { label }]) => ({ value, label })),
        },
      ]}
      empty={{
        title: 'No recipients',
        text: 'They are kept for 30 days; the numbers of the report stay.',
      }}
    />
  );
}
