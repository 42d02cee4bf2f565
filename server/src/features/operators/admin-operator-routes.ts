/** The accounts of the console and their sessions, for administrators. */
import {
  changeOperatorRole,
  createOperator,
  disableOperator,
  enableOperator,
  exportSessionsOfOperator,
  listSessionsOfOperator,
  operators,
  resetOperator,
  revokeSessionOfOperator,
  revokeSessionsOfOperator,
  showOperator,
  type IssuedOperatorLink,
  type OperatorSession,
} from '@latchkey/contract';

import { answerCsv } from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { DONE } from '#server/http/done.ts';
import type { RequestOperator } from '#server/http/require-operator.ts';
import { serveOperation } from '#server/http/serve-operation.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import { serveList } from '../lists/serve-list.ts';
import type { SessionDependencies } from './dependencies.ts';
import * as lists from './list-operators.ts';
import * as manage from './manage.ts';
import { revokeOtherSessions, revokeSession } from './sessions.ts';
import { viewOperator } from './view-operator.ts';

export function registerOperatorRoutes(app: App, deps: SessionDependencies): void {
  serveList(app, deps, operators, lists.operatorSource(deps));
  serveOperation(app, showOperator, ({ params }) => lists.showOperator(deps, params.id));
  registerChanges(app, deps);
  registerSessionsOfOperators(app, deps);
}

function registerChanges(app: App, deps: SessionDependencies): void {
  serveOperation(app, createOperator, async ({ body, operator }) => {
    const { email, name = '', role } = body;
    const newOperator = { email, name: name.trim() || email, role };
    return viewLink(await manage.createOperator(deps, newOperator, changeOf(operator, body)));
  });
  serveOperation(app, changeOperatorRole, async ({ params, body, operator }) => {
    const change = changeOf(operator, body);
    return viewOperator(await manage.changeOperatorRole(deps, params, body.role, change));
  });
  serveOperation(app, disableOperator, async ({ params, body, operator }) =>
    viewOperator(await manage.disableOperator(deps, params, changeOf(operator, body))),
  );
  serveOperation(app, enableOperator, async ({ params, body, operator }) =>
    viewOperator(await manage.enableOperator(deps, params, changeOf(operator, body))),
  );
  serveOperation(app, resetOperator, async ({ params, body, operator }) =>
    viewLink(await manage.resetOperator(deps, params, changeOf(operator, body))),
  );
}

function changeOf(
  { actor, kind, id }: RequestOperator,
  body: { readonly reason?: string; readonly expected_version?: number },
): manage.OperatorChange {
  return {
    actor,
    reason: body.reason ?? null,
    actorId: kind === 'session' ? id : null,
    ...(body.expected_version === undefined ? {} : { expectedVersion: body.expected_version }),
  };
}

function viewLink({ operatorId, url, expiresAt }: manage.IssuedLink): IssuedOperatorLink {
  return { operator_id: operatorId, url, expires_at: expiresAt.toISOString() };
}

const SESSION_COLUMNS: CsvColumns<OperatorSession> = {
  id: (session) => session.id,
  user_agent: (session) => session.user_agent,
  network: (session) => session.network,
  created_at: (session) => session.created_at,
  last_seen_at: (session) => session.last_seen_at,
  expires_at: (session) => session.expires_at,
};

function registerSessionsOfOperators(app: App, deps: SessionDependencies): void {
  serveOperation(app, listSessionsOfOperator, ({ params, operator }) =>
    lists.listSessionsOf(deps, operator, params.id),
  );
  serveOperation(app, exportSessionsOfOperator, async ({ params, operator }, reply) => {
    const sessions = await lists.exportSessionsOf(deps, operator, params.id);
    return answerCsv(reply, 'sessions', SESSION_COLUMNS, sessions);
  });
  serveOperation(app, revokeSessionsOfOperator, async ({ params, operator }) => {
    await revokeOtherSessions(deps, operator, params.id);
    return DONE;
  });
  serveOperation(app, revokeSessionOfOperator, async ({ params, operator }) => {
    await revokeSession(deps, operator, params.session_id, params.id);
    return DONE;
  });
}
