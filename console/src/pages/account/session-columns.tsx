import type { OperatorRole, OperatorSession } from '@latchkey/contract';

import { Action } from '#console/ui/action.tsx';
import { Badge } from '#console/ui/badge.tsx';
import type { Column } from '#console/ui/data-table.tsx';
import { Time } from '#console/ui/time.tsx';

import { describeBrowser } from './describe-browser.ts';

/**
 * The columns of a list of sessions.
 * @param path the list in the interface
 * @param role the lowest role that may end them
 */
export function sessionColumns(path: string, role: OperatorRole): Column<OperatorSession>[] {
  return [
    {
      key: 'browser',
      label: 'Browser',
      grow: true,
      cell: (each) => (
        <span title={each.user_agent}>
          {describeBrowser(each.user_agent)}{' '}
          {each.is_current && <Badge tone="good">this one</Badge>}
        </span>
      ),
    },
    { key: 'network', label: 'Address', cell: ({ network }) => <code>{network}</code> },
    { key: 'created_at', label: 'Signed in', cell: (each) => <Time at={each.created_at} /> },
    {
      key: 'last_seen_at',
      label: 'Last used',
      cell: (each) => <Time at={each.last_seen_at} as="relative" />,
    },
    {
      key: 'end',
      label: '',
      align: 'end',
      cell: (each) => <EndSession session={each} path={path} role={role} />,
    },
  ];
}

interface EndSessionProps {
  readonly session: OperatorSession;
  readonly path: string;
  readonly role: OperatorRole;
}

function EndSession({ session, path, role }: EndSessionProps) {
  if (session.is_current) return null;
  return (
    <Action
      label="End"
      title="End this session"
      explanation={`${describeBrowser(session.user_agent)} at ${session.network} must sign in again.`}
      role={role}
      path={`${path}/${session.id}/revoke`}
      invalidates={[path]}
      done="The session ended."
    />
  );
}
