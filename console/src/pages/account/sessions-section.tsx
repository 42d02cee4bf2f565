import { listSessions, revokeOtherSessions, revokeSession } from '@latchkey/contract/admin/session';

import { pathOf, useOperation } from '#console/app/call.ts';
import { Loaded } from '#console/ui/loaded.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';
import { Section } from '#console/ui/page.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';

import { endOf, sessionColumns } from './session-columns.tsx';

/** The browsers in which the operator is signed in. */
export function SessionsSection() {
  const sessions = useOperation(listSessions, {});
  const invalidates = [pathOf(listSessions)];
  const others = (sessions.data?.items ?? []).filter((each) => !each.is_current);
  return (
    <Section
      title="Sessions"
      intro="The browsers in which you are signed in. End those that you do not know."
      actions={
        others.length > 0 && (
          <OperationAction
            of={revokeOtherSessions}
            label="End all others"
            explanation="Ends every session but this one."
            invalidates={invalidates}
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
            columns={sessionColumns((each) => (
              <OperationAction
                of={revokeSession}
                params={{ id: each.id }}
                {...endOf(each)}
                invalidates={invalidates}
              />
            ))}
          />
        )}
      </Loaded>
    </Section>
  );
}
