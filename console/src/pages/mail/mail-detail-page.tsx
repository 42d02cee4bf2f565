import type { Mail } from '@latchkey/contract';
import { mails, resendMail, showMail } from '@latchkey/contract/admin/mails';

import { pathOf } from '#console/app/call.ts';
import { hrefOf } from '#console/app/router.ts';
import type { RouteProps } from '#console/app/match-path.ts';
import { Advice } from '#console/ui/advice.tsx';
import { Badge } from '#console/ui/badge.tsx';
import { LinkButton } from '#console/ui/button.tsx';
import { Notice } from '#console/ui/error-box.tsx';
import { Facts } from '#console/ui/facts.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';
import { OperationPage } from '#console/ui/operation-page.tsx';
import { Page, Section } from '#console/ui/page.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';
import { Time } from '#console/ui/time.tsx';
import { nameLanguage } from '#console/ui/labels.ts';

import { nameMail, toneOfMail } from './mail-labels.ts';

const BACK = { to: '/mail', label: 'Mail log' };

/** One mail: what happened to it, and sending it again. */
export function MailDetailPage({ params }: RouteProps) {
  const { id = '' } = params;
  return (
    <OperationPage of={showMail} params={{ id }} polls title="Mail" back={BACK}>
      {(mail) => <MailView mail={mail} />}
    </OperationPage>
  );
}

interface MailViewProps {
  readonly mail: Mail;
}

function MailView({ mail }: MailViewProps) {
  return (
    <Page
      title={nameMail(mail)}
      back={BACK}
      status={<Badge tone={toneOfMail(mail.state)}>{mail.state}</Badge>}
      actions={
        <>
          <LinkButton to={`/mail/templates/${encodeURIComponent(mail.template)}`}>
            Template
          </LinkButton>
          {mail.can_resend && <Resend mail={mail} />}
        </>
      }
    >
      <Notice kind={kindOf(mail)}>
        <div>
          <p>
            <strong>{mail.summary}</strong>
          </p>
          {mail.advice && <Advice text={mail.advice} role="support" />}
        </div>
      </Notice>
      <Facts
        items={[
          ['To', mail.recipient ?? <span class="dim">not stored</span>],
          ['Language', mail.language === null ? undefined : nameLanguage(mail.language)],
          ['Requested', <Time at={mail.created_at} />],
          ['Sent', mail.sent_at === null ? undefined : <Time at={mail.sent_at} />],
          ['Error', mail.reason === null ? undefined : <code>{mail.reason}</code>],
          [
            'Message-ID',
            mail.message_id === null ? undefined : <code class="break">{mail.message_id}</code>,
          ],
        ]}
      />
      {mail.kind === 'key' && <Licenses mail={mail} />}
    </Page>
  );
}

function kindOf({ state }: Mail): 'error' | 'good' | 'info' | 'warning' {
  if (state === 'failed') return 'error';
  if (state === 'held' || state === 'unconfirmed') return 'warning';
  return state === 'sent' ? 'good' : 'info';
}

function Resend({ mail }: MailViewProps) {
  return (
    <OperationAction
      of={resendMail}
      params={{ id: mail.id }}
      label="Send again"
      explanation={
        mail.kind === 'key'
          ? 'Queues the e-mail with all keys of the purchase. The buyer may get it twice.'
          : 'Queues the e-mail that asks for the confirmation.'
      }
      kind={mail.state === 'failed' ? 'primary' : 'plain'}
      reason="required"
      invalidates={[pathOf(mails.list)]}
      done="The e-mail is queued."
    />
  );
}

function Licenses({ mail }: { readonly mail: Mail }) {
  return (
    <Section title="Licenses" intro="Of the purchase.">
      <PlainTable<Mail['licenses'][number]>
        caption="Licenses"
        rows={mail.licenses}
        rowKey={({ license_id: id }) => id}
        empty="No license of this purchase."
        columns={[
          {
            key: 'license',
            label: 'License',
            grow: true,
            cell: (each) => (
              <a href={hrefOf(`/licenses/${each.license_id}`)}>
                {each.product} …{each.key_hint}
              </a>
            ),
          },
          {
            key: 'sent',
            label: 'Key',
            cell: ({ sent }) => (
              <Badge tone={sent ? 'good' : 'muted'}>{sent ? 'sent' : 'not sent'}</Badge>
            ),
          },
        ]}
      />
    </Section>
  );
}
