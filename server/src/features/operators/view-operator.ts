import type { Operator, OperatorSession } from '@latchkey/contract';

import type { OperatorRecord } from './queries/operators.ts';
import type { SessionRecord } from './queries/sessions.ts';
import { endOfSession, operatorState } from './rules/operator.ts';

/** Returns an operator as the interface shows it. */
export function viewOperator(operator: OperatorRecord): Operator {
  return {
    id: operator.id,
    email: operator.email,
    name: operator.name,
    role: operator.role,
    state: operatorState(operator),
    totp_enabled: operator.totpEnabledAt !== null,
    created_at: operator.createdAt.toISOString(),
    last_sign_in_at: operator.lastSignInAt?.toISOString() ?? null,
    disabled_at: operator.disabledAt?.toISOString() ?? null,
    version: operator.version,
  };
}

/** Returns a session as the interface shows it. @param currentId the session of the request */
export function viewOperatorSession(
  session: SessionRecord,
  currentId: string | null,
): OperatorSession {
  return {
    id: session.id,
    is_current: session.id === currentId,
    created_at: session.createdAt.toISOString(),
    last_seen_at: session.lastSeenAt.toISOString(),
    expires_at: endOfSession(session).toISOString(),
    network: session.network,
    user_agent: session.userAgent,
  };
}
