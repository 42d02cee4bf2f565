import type { AdminSubscriber } from '@latchkey/contract';
import { subscribers } from '@latchkey/contract/admin/subscribers';

import { useProductOptions } from '#console/app/products.ts';
import { Badge } from '#console/ui/badge.tsx';
import { LinkButton } from '#console/ui/button.tsx';
import { ListTable } from '#console/ui/list-table.tsx';
import { Page } from '#console/ui/page.tsx';
import { Time } from '#console/ui/time.tsx';
import { LANGUAGE_NAMES, namedOptions, nameLanguage } from '#console/ui/labels.ts';

import { daysAgo, STATE_OPTIONS, STATES } from './subscriber-labels.ts';

/** Newsletter subscribers. */
export function SubscribersPage() {
  return (
    <Page
      title="Subscribers"
      intro="People who asked for your newsletter."
      actions={<LinkButton to="/suppressions">Suppressed addresses</LinkButton>}
    >
      <ListTable
        of={subscribers}
        search="Address, its start, or @domain"
        rowKey={({ id }) => id}
        rowLink={({ id }) => `/subscribers/${id}`}
        columns={[
          {
            key: 'email',
            label: 'Address',
            grow: true,
            cell: ({ email }) => email ?? <span class="dim">erased</span>,
          },
          { key: 'state', label: 'State', cell: ({ state }) => <StateBadge state={state} /> },
          {
            key: 'language',
            label: 'Language',
            hideWhenNarrow: true,
            cell: ({ language }) => (language === null ? '' : nameLanguage(language)),
          },
          {
            key: 'first_subscribed_at',
            label: 'Subscribed',
            sort: 'descending',
            cell: (each) => <Time at={each.first_subscribed_at} as="date" />,
          },
          {
            key: 'confirmed_at',
            label: 'Confirmed',
            cell: ({ confirmed_at: at, confirmation_problem: problem }) =>
              at === null && problem !== null ? (
                <Badge tone="bad">mail failed</Badge>
              ) : (
                <Time at={at} as="date" never="not yet" />
              ),
          },
        ]}
        filters={[
          { name: 'state', label: 'State', options: STATE_OPTIONS },
          { name: 'language', label: 'Language', options: namedOptions(LANGUAGE_NAMES) },
          { name: 'product', label: 'Has a license of', options: useProductOptions() },
        ]}
        ready={[
          { label: 'Confirmed', query: { state: 'confirmed' } },
          { label: 'Waiting for confirmation', query: { state: 'pending' } },
          { label: 'Unsubscribed', query: { state: 'unsubscribed' } },
          { label: 'New in 7 days', query: { since: daysAgo(7) } },
        ]}
        empty={{
          title: 'No subscribers yet',
          text: 'They appear when your website or software sends addresses to /api/v1/subscribers.',
        }}
      />
    </Page>
  );
}

/** The state of a subscriber in a word. */
export function StateBadge({ state }: { readonly state: AdminSubscriber['state'] }) {
  const { tone, label } = STATES[state];
  return <Badge tone={tone}>{label}</Badge>;
}
