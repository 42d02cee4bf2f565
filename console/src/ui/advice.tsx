import type { OperatorRole } from '@latchkey/contract';

import { hasRole } from '#console/app/session.ts';

interface AdviceProps {
  readonly text: string;
  /** The lowest role that can follow it. */
  readonly role: OperatorRole;
}

/** What to do about something; says who can do it where the operator cannot. */
export function Advice({ text, role }: AdviceProps) {
  return (
    <p>
      {text}
      {!hasRole(role) &&
        ` Ask an operator with the role ${role}${role === 'admin' ? '' : ' or admin'}.`}
    </p>
  );
}
