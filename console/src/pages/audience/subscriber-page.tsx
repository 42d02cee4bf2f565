import type { AdminSubscriberDetail } from '@latchkey/contract';
import { showSubscriber } from '@latchkey/contract/admin/subscribers';

import { hrefOf, navigate } from '#console/app/router.ts';
import type { RouteProps } from '#console/app/match-path.ts';
import { Empty } from '#console/ui/empty.tsx';
import { Notice } from '#console/ui/error-box.tsx';
import { Facts } from '#console/ui/facts.tsx';
import { OperationPage } from '#console/ui/operation-page.tsx';
import { Card, Page, Section } from '#console/ui/page.tsx';
import { Time } from '#console/ui/time.tsx';
import { Timeline, type TimelineItem } from '#console/ui/timeline.tsx';
import { nameActor, nameLanguage } from '#console/ui/labels.ts';

import { SubscriberActions } from './subscriber-actions.tsx';
import { describeChange, REASONS, STATES } from './subscriber-labels.ts';
import { StateBadge } from './subscribers-page.tsx';

const BACK = { to: '/subscribers', label: 'Subscribers' };

/** One subscriber: state, history, and what can be done. */
export function SubscriberPage({ params }: RouteProps) {
  const { id = '' } = params;
  return (
    <OperationPage of={showSubscriber} params={{ id }} title="Subscriber" back={BACK}>
      {(subscriber) => (
        <Page
          title={subscriber.email ?? 'Erased address'}
          status={<StateBadge state={subscriber.state} />}
          intro={STATES[subscriber.state].meaning}
          back={BACK}
          actions={
            subscriber.email !== null && (
              <SubscriberActions
                subscriber={subscriber}
                onErased={() => navigate('/subscribers')}
              />
            )
          }
        >
          <Content subscriber={subscriber} />
        </Page>
      )}
    </OperationPage>
  );
}

interface ContentProps {
  readonly subscriber: AdminSubscriberDetail;
}

function Content({ subscriber }: ContentProps) {
  const { state, confirmation_problem: problem } = subscriber;
  return (
    <>
      {state === 'pending' && problem !== null && (
        <Notice kind="error">
          <p>
            The confirmation e-mail was not sent: <code>{problem}</code>.{' '}
            {problem === 'mailbox_limit'
              ? 'The mailbox got five of them within a day. Its owner can subscribe again a day later.'
              : 'Check the address and the mail relay, then send it again.'}
          </p>
        </Notice>
      )}
      <Card>
        <Facts items={factsOf(subscriber)} />
      </Card>
      <Section title="History" intro="Changes by operators, and outreach of the last 30 days.">
        <History subscriber={subscriber} />
      </Section>
    </>
  );
}

function factsOf(subscriber: AdminSubscriberDetail) {
  const { language, opt_in: optIn, suppression_reason: reason } = subscriber;
  return [
    ['Language', language === null ? null : nameLanguage(language)],
    ['First subscribed', <Time at={subscriber.first_subscribed_at} />],
    [
      'Last request',
      subscriber.subscribed_at === subscriber.first_subscribed_at ? undefined : (
        <Time at={subscriber.subscribed_at} />
      ),
    ],
    ['Confirmation mailed', <Time at={subscriber.confirmation_mailed_at} never="not sent" />],
    ['Confirmed', <Time at={subscriber.confirmed_at} never="not yet" />],
    [
      'Opt-in',
      optIn === 'double'
        ? 'Double: confirmed from the mailbox'
        : optIn === 'single'
          ? 'Single: accepted without confirmation'
          : undefined,
    ],
    ['Suppressed', reason === null ? undefined : REASONS[reason]],
    [
      'Suppressed since',
      subscriber.suppressed_at === null ? undefined : <Time at={subscriber.suppressed_at} />,
    ],
    [
      'Licenses',
      subscriber.email === null ? undefined : (
        <a href={hrefOf(`/licenses?search=${encodeURIComponent(subscriber.email)}`)}>
          Licenses with this address
        </a>
      ),
    ],
    ['Id', <code>{subscriber.id}</code>],
  ] as const;
}

function History({ subscriber: { outreach, history } }: ContentProps) {
  const mails = outreach.map((mail, index): TimelineItem => {
    const isSent = mail.state === 'sent';
    return {
      id: `mail-${index}`,
      at: mail.created_at,
      tone: isSent ? 'good' : 'warning',
      title: `Outreach “${mail.template}” (${mail.language})`,
      detail: isSent ? 'Sent' : mail.state,
    };
  });
  const changes = history.map((change, index): TimelineItem => ({
    id: `change-${index}`,
    at: change.occurred_at,
    tone: 'info',
    title: describeChange(change.action),
    detail: `${nameActor(change.actor)}${change.reason === null ? '' : `: ${change.reason}`}`,
  }));
  const items = [...mails, ...changes].toSorted((a, b) => b.at.localeCompare(a.at));
  if (items.length === 0) return <Empty title="Nothing happened yet" />;
  return <Timeline items={items} />;
}
