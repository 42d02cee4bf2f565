import type { StoredEvent } from '@latchkey/contract';
import { showEvent } from '@latchkey/contract/admin/events';

import { hrefOf, query } from '#console/app/router.ts';
import type { RouteProps } from '#console/app/match-path.ts';
import { Facts } from '#console/ui/facts.tsx';
import { OperationPage } from '#console/ui/operation-page.tsx';
import { Page, Section } from '#console/ui/page.tsx';
import { Time } from '#console/ui/time.tsx';
import { Json } from '#console/ui/timeline.tsx';

import { eventPath } from './event-path.ts';

const BACK = { to: '/events', label: 'Events' };

/** One stored event. */
export function StoredEventPage({ params }: RouteProps) {
  const { id = '' } = params;
  return (
    <OperationPage of={showEvent} params={{ event_id: id }} title="Event" back={BACK}>
      {(event) => (
        <Page title={event.name} back={BACK}>
          <EventFacts event={event} />
        </Page>
      )}
    </OperationPage>
  );
}

function EventFacts({ event }: { readonly event: StoredEvent }) {
  const { props } = event;
  return (
    <>
      <Facts
        items={[
          ['Event', <code>{event.event_id}</code>],
          ['Name', <a href={hrefOf(eventPath(event.name, query.value))}>{event.name}</a>],
          ['Occurred', <Time at={event.occurred_at} />],
          [
            'Client clock',
            event.client_occurred_at === null ? undefined : <Time at={event.client_occurred_at} />,
          ],
          ['Received', <Time at={event.received_at} />],
          [
            'Install',
            <a href={hrefOf(`/installs/${event.install_id}`)}>
              <code>{event.install_id}</code>
            </a>,
          ],
          ['Session', <code>{event.session_id}</code>],
          ['Version', event.app_version],
          ['System', event.os_version],
        ]}
      />
      <Section title="Properties">
        {props === null ? <p class="dim">It has none.</p> : <Json value={props} />}
      </Section>
    </>
  );
}
