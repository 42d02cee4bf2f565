import type { Operator, operators, OperatorSession, OperatorSessions } from '@latchkey/contract';
import type { Pool } from 'pg';

import { noSuch } from '#server/errors.ts';

import { recordAccess } from '../audit/record-access.ts';
import { selectFrom, type ListSource } from '../lists/list-source.ts';
import type { AuthenticatedOperator } from './authenticate.ts';
import type { SessionDependencies } from './dependencies.ts';
import { hasRole, isInState, matchesText, operatorList } from './queries/list-operators.ts';
import { findOperator, type OperatorRecord } from './queries/operators.ts';
import { listSessionRecords } from './queries/sessions.ts';
import { sessionLimits } from './rules/operator.ts';
import { viewOperator, viewOperatorSession } from './view-operator.ts';

/** Where the list of operators comes from. */
export function operatorSource(deps: {
  readonly pool: Pool;
}): ListSource<typeof operators, OperatorRecord> {
  const filters = { role: hasRole, state: isInState, search: matchesText };
  return { read: selectFrom(deps, operatorList, filters), view: viewOperator };
}

/** Shows one operator. @throws noSuch (404) */
export async function showOperator(deps: SessionDependencies, id: string): Promise<Operator> {
  return viewOperator(await requireOperator(deps, id));
}

async function requireOperator(deps: SessionDependencies, id: string): Promise<OperatorRecord> {
  const operator = await findOperator(deps.pool, id);
  if (operator === null) throw noSuch('There is no such operator.');
  return operator;
}

/** Lists the sessions of one operator. @throws noSuch (404) */
export async function listSessionsOf(
  deps: SessionDependencies,
  sender: AuthenticatedOperator,
  operatorId: string,
): Promise<OperatorSessions> {
  await requireOperator(deps, operatorId);
  const limits = sessionLimits(deps.clock.now());
  const sessions = await listSessionRecords(deps.pool, operatorId, limits);
  return { items: sessions.map((session) => viewOperatorSession(session, sender.sessionId)) };
}

/** Exports the sessions of one operator, with an audit entry. @throws noSuch (404) */
export async function exportSessionsOf(
  deps: SessionDependencies,
  sender: AuthenticatedOperator,
  operatorId: string,
): Promise<OperatorSession[]> {
  const { items } = await listSessionsOf(deps, sender, operatorId);
  await recordAccess(deps, {
    actor: sender.actor,
    action: 'operator.export_sessions',
    subjectId: operatorId,
    reason: null,
    details: {},
  });
  return items;
}
