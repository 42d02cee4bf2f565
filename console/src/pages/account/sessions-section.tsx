import type { OperatorSessions } from '@latchkey/contract';

import { useResource } from '#console/app/resources.ts';
import { Action } from '#console/ui/action.tsx';
import { Loaded } from '#console/ui/loaded.tsx';
import { Section } from '#console/ui/page.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';

import { sessionColumns } from './session-columns.tsx';

const SESSIONS = '/api/v1/admin/sessions';

/** The browsers in which the operator is signed in. */
export function SessionsSection() {
  const sessions = useResource<OperatorSessions>(SESSIONS);
  const others = (sessions.data?.items ?? []).filter((each) => !each.is_current);
  return (
    <Section
      title="Sessions"
      intro="The browsers in which you are signed in. End those that you do not know."
      actions={
        others.length > 0 && (
          <Action
            label="End all others"
            explanation="Ends every session but this one."
            role="viewer"
            path={`${SESSIONS}/revoke-others`}
            invalidates={[SESSIONS]}
            done="All other sessions ended."
          />
        )
      }
    >
      <Loaded resource={sessions}>
        {({ items }) => (
          <PlainTable
            caption="Sessions"
            rows={items}
            rowKey={({ id }) => id}
            columns={sessionColumns(SESSIONS, 'viewer')}
          />
        )}
      </Loaded>
    </Section>
  );
}
