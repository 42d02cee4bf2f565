import type { OperatorSession } from '@latchkey/contract';
import type { ComponentChildren } from 'preact';

import { Badge } from '#console/ui/badge.tsx';
import type { Column } from '#console/ui/data-table.tsx';
import { Time } from '#console/ui/time.tsx';

import { describeBrowser } from './describe-browser.ts';

/** The columns of a list of sessions. @param end the button that ends another session than this one */
export function sessionColumns(
  end: (session: OperatorSession) => ComponentChildren,
): Column<OperatorSession>[] {
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
      cell: (each) => (each.is_current ? null : end(each)),
    },
  ];
}

/** The texts of the action that ends a session. */
export function endOf({ user_agent: agent, network }: OperatorSession) {
  return {
    label: 'End',
    title: 'End this session',
    explanation: `${describeBrowser(agent)} at ${network} must sign in again.`,
    done: 'The session ended.',
  };
}
