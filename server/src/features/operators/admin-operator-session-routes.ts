/** The sessions of other operators, for administrators. */
import {
  Done,
  OperatorPath,
  type OperatorSession,
  OperatorSessions,
  ref,
  SessionOfOperatorPath,
} from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import { answerCsv, csvAnswer } from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { DONE } from '#server/http/done.ts';
import { ADMIN, ADMIN_FRESH, operatorOf } from '#server/http/require-operator.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import { PREFIX } from './admin-access.ts';
import type { SessionDependencies } from './dependencies.ts';
import { exportSessionsOf, listSessionsOf } from './list-operators.ts';
import { revokeOtherSessions, revokeSession } from './sessions.ts';

const SESSIONS = `${PREFIX}/operators/:id/sessions`;
const TAGS = ['admin: operators'];

const SESSION_COLUMNS: CsvColumns<OperatorSession> = {
  id: (session) => session.id,
  user_agent: (session) => session.user_agent,
  network: (session) => session.network,
  created_at: (session) => session.created_at,
  last_seen_at: (session) => session.last_seen_at,
  expires_at: (session) => session.expires_at,
};

export function registerOperatorSessionRoutes(app: App, deps: SessionDependencies): void {
  app.get(SESSIONS, { config: ADMIN, schema: listSessionsOperation }, (request) =>
    listSessionsOf(deps, operatorOf(request), request.params.id),
  );
  app.get(
    `${SESSIONS}/export`,
    { config: ADMIN_FRESH, schema: exportSessionsOperation },
    async (request, reply) => {
      const sessions = await exportSessionsOf(deps, operatorOf(request), request.params.id);
      return answerCsv(reply, 'sessions', SESSION_COLUMNS, sessions);
    },
  );
  app.post(
    `${SESSIONS}/revoke`,
    { config: ADMIN_FRESH, schema: revokeSessionsOperation },
    async (request) => {
      await revokeOtherSessions(deps, operatorOf(request), request.params.id);
      return DONE;
    },
  );
  app.post(
    `${SESSIONS}/:session_id/revoke`,
    { config: ADMIN_FRESH, schema: revokeSessionOperation },
    async (request) => {
      const { id, session_id: sessionId } = request.params;
      await revokeSession(deps, operatorOf(request), sessionId, id);
      return DONE;
    },
  );
}

const listSessionsOperation = {
  operationId: 'listSessionsOfOperator',
  tags: TAGS,
  summary: 'List the sessions of an operator',
  params: OperatorPath,
  response: { 200: ref(OperatorSessions, 'The newest 100 sessions.') },
  problems: ['not_found'],
} satisfies FastifySchema;

const exportSessionsOperation = {
  operationId: 'exportSessionsOfOperator',
  tags: TAGS,
  summary: 'Export the sessions of an operator as CSV',
  description: 'The audit log records it.',
  params: OperatorPath,
  response: csvAnswer('One line for each session, the newest use first.'),
  problems: ['not_found'],
} satisfies FastifySchema;

const revokeSessionsOperation = {
  operationId: 'revokeSessionsOfOperator',
  tags: TAGS,
  summary: 'End all sessions of an operator',
  description: 'The session of the request stays.',
  params: OperatorPath,
  response: { 200: ref(Done, 'No other session is left.') },
} satisfies FastifySchema;

const revokeSessionOperation = {
  operationId: 'revokeSessionOfOperator',
  tags: TAGS,
  summary: 'End a session of an operator',
  params: SessionOfOperatorPath,
  response: { 200: ref(Done, 'The session ended.') },
  problems: ['not_found'],
} satisfies FastifySchema;
