import type { MailItem, MailRelayCheck } from '@latchkey/contract';
import { checkMailRelay, mails, resendKeyMails } from '@latchkey/contract/admin/mails';
import { useState } from 'preact/hooks';

import { pathOf } from '#console/app/call.ts';
import { query } from '#console/app/router.ts';
import { Badge } from '#console/ui/badge.tsx';
import { Notice } from '#console/ui/error-box.tsx';
import { ListTable } from '#console/ui/list-table.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';
import { Page } from '#console/ui/page.tsx';
import { selectedTab, Tabs } from '#console/ui/tabs.tsx';
import { Time } from '#console/ui/time.tsx';
import { nameLanguage } from '#console/ui/labels.ts';

import { KIND_OPTIONS, nameMail, STATE_OPTIONS, toneOfMail } from './mail-labels.ts';
import { Templates } from './templates.tsx';

const TABS = [
  { id: 'log', label: 'Sent and waiting' },
  { id: 'templates', label: 'Templates' },
];

/** The mails of all kinds, and their templates. */
export function MailPage() {
  const [relay, setRelay] = useState<MailRelayCheck | null>(null);
  return (
    <Page
      title="Mail log"
      intro="E-mails with license keys and confirmations of subscriptions; of the last 30 days also codes and notices to license owners, and outreach."
      actions={
        <OperationAction
          of={checkMailRelay}
          label="Check relay"
          title="Check the mail relay"
          explanation="Connects to the mail relay and logs in. Nothing is sent."
          confirm="Check"
          invalidates={[]}
          done="The check ended."
          onDone={setRelay}
        />
      }
    >
      {relay && <Relay relay={relay} />}
      <Tabs label="Mail" items={TABS} />
      {selectedTab(TABS) === 'templates' ? <Templates /> : <Log />}
    </Page>
  );
}

function Relay({ relay }: { readonly relay: MailRelayCheck }) {
  return (
    <Notice kind={relay.usable ? 'good' : 'error'}>
      <div>
        <p>
          {relay.summary} {relay.advice}
        </p>
        {relay.from !== null && <p class="dim">Mail is sent from {relay.from}.</p>}
      </div>
    </Notice>
  );
}

function Log() {
  return (
    <ListTable
      of={mails}
      search="E-mail address or transaction"
      rowKey={({ id }) => id}
      rowLink={({ id }) => `/mail/${encodeURIComponent(id)}`}
      polls
      columns={[
        {
          key: 'recipient',
          label: 'To',
          grow: true,
          cell: ({ recipient, kind }) =>
            recipient === null ? (
              <span class="dim">{kind === 'outreach' ? 'not stored' : 'unknown yet'}</span>
            ) : (
              <span class="break">{recipient}</span>
            ),
        },
        { key: 'kind', label: 'Mail', cell: NameOf },
        {
          key: 'state',
          label: 'State',
          cell: ({ state }) => <Badge tone={toneOfMail(state)}>{state}</Badge>,
        },
        {
          key: 'reason',
          label: 'Why',
          hideWhenNarrow: true,
          cell: ({ reason }) =>
            reason === null ? <span class="dim">–</span> : <code>{reason}</code>,
        },
        {
          key: 'created_at',
          label: 'Requested',
          sort: 'descending',
          cell: (each) => <Time at={each.created_at} />,
        },
      ]}
      filters={[
        { name: 'kind', label: 'Mail', options: KIND_OPTIONS },
        { name: 'state', label: 'State', options: STATE_OPTIONS },
      ]}
      ready={[
        { label: 'Failed', query: { state: 'failed' } },
        { label: 'Held', query: { state: 'held' } },
        { label: 'Unconfirmed', query: { state: 'unconfirmed' } },
      ]}
      actions={<ResendAll />}
      empty={{
        title: 'No mail yet',
        text: 'A buyer gets an e-mail with the key after a purchase, once a mail relay is configured.',
      }}
    />
  );
}

function NameOf({ kind, template, language }: MailItem) {
  return (
    <>
      {nameMail({ kind, template })}{' '}
      {language !== null && <span class="dim">{nameLanguage(language)}</span>}
    </>
  );
}

/** A button that sends all refused or unconfirmed e-mails with keys again, where the list shows all of them. */
function ResendAll() {
  const state = query.value.get('state');
  const isOther = query.value.has('search') || (query.value.get('kind') ?? 'key') !== 'key';
  if (isOther) return null;
  if (state !== 'failed' && state !== 'unconfirmed') return null;
  const isRefused = state === 'failed';
  return (
    <OperationAction
      of={resendKeyMails}
      label="Resend all with keys"
      explanation={
        isRefused
          ? 'Queues every e-mail with keys that the mail relay refused. Repair the relay first.'
          : 'Queues every e-mail with keys that the mail relay did not confirm. Some buyers may get it twice.'
      }
      reason="required"
      body={() => ({ which: isRefused ? 'refused' : 'unconfirmed' })}
      invalidates={[pathOf(mails.list)]}
      done="The e-mails are queued."
    />
  );
}
