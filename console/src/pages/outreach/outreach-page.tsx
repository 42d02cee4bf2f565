import type { CampaignSummary } from '@latchkey/contract';
import { campaigns, createCampaign } from '@latchkey/contract/admin/outreach';

import { mayCall } from '#console/app/session.ts';
import { Badge } from '#console/ui/badge.tsx';
import { LinkButton } from '#console/ui/button.tsx';
import { formatNumber } from '#console/ui/format.ts';
import { ListTable } from '#console/ui/list-table.tsx';
import { Page } from '#console/ui/page.tsx';
import { Time } from '#console/ui/time.tsx';

import { SOURCES, STATES } from './campaign-labels.ts';

/** All campaigns: drafts, what is being sent, and what was sent. */
export function OutreachPage() {
  return (
    <Page
      title="Outreach"
      intro="Mails to your subscribers and customers. Every mail has a link to unsubscribe."
      actions={
        mayCall(createCampaign) && (
          <LinkButton to="/outreach/new" kind="primary">
            Write a mail
          </LinkButton>
        )
      }
    >
      <ListTable
        of={campaigns}
        search="Name"
        polls
        rowKey={({ id }) => id}
        rowLink={({ id }) => `/outreach/${id}`}
        columns={[
          { key: 'name', label: 'Name', grow: true, cell: ({ name }) => <bdi>{name}</bdi> },
          { key: 'state', label: 'State', cell: ({ state }) => <CampaignState state={state} /> },
          {
            key: 'source',
            label: 'Recipients',
            hideWhenNarrow: true,
            cell: ({ source, languages }) => `${SOURCES[source]} · ${languages.join(', ')}`,
          },
          {
            key: 'sent',
            label: 'Sent',
            align: 'end',
            cell: ({ state, counts: { sent, total, suppressed } }) =>
              state === 'draft' ? (
                <span class="dim">–</span>
              ) : (
                `${formatNumber(sent)} of ${formatNumber(total - suppressed)}`
              ),
          },
          {
            key: 'failed',
            label: 'Failed',
            align: 'end',
            cell: ({ counts: { failed, unknown } }) =>
              failed + unknown === 0 ? '' : formatNumber(failed + unknown),
          },
          {
            key: 'created_at',
            label: 'Created',
            sort: 'descending',
            cell: (each) => <Time at={each.created_at} as="date" />,
          },
        ]}
        ready={[
          { label: 'Drafts', query: { state: 'draft' } },
          { label: 'Being sent', query: { state: 'sending' } },
          { label: 'Sent', query: { state: 'sent' } },
        ]}
        empty={{
          title: 'No mails yet',
          text: 'Write to your subscribers or customers, see the mail as you write, and check who gets it before you send.',
        }}
      />
    </Page>
  );
}

/** The state of a campaign in a word. */
export function CampaignState({ state }: { readonly state: CampaignSummary['state'] }) {
  const { tone, label } = STATES[state];
  return <Badge tone={tone}>{label}</Badge>;
}
