/** The signed-in operator. */
import type { CurrentOperator, OperationAddress } from '@latchkey/contract';
import * as session from '@latchkey/contract/admin/session';
import { OPERATOR_ROLES, type OperatorRole } from '@latchkey/contract/constants';
import { grantOf } from '@latchkey/contract/permissions';
import { signal } from '@preact/signals';

import { ApiError } from './api-error.ts';
import { call, callOnce } from './call.ts';
import { forgetResources } from './resources.ts';
import { serviceNowMs } from './service-clock.ts';

/** The operator; null: signed out; undefined: not known yet. */
export const operator = signal<CurrentOperator | null | undefined>(undefined);

/** Why the operator is not known: the first request failed. */
export const sessionError = signal<ApiError | null>(null);

/** Whether the operator has a role or a higher one. The service decides; this only hides what would be refused. */
export function hasRole(role: OperatorRole): boolean {
  const current = operator.value;
  if (current == null) return false;
  return OPERATOR_ROLES.indexOf(current.role) >= OPERATOR_ROLES.indexOf(role);
}

/** Whether the operator may call an operation. The service decides; this only hides what would be refused. */
export function mayCall({ permission }: Pick<OperationAddress, 'permission'>): boolean {
  return permission === 'public' || hasRole(grantOf(permission).role);
}

/** Whether the session's proof lasts for another minute. */
export function isFresh(): boolean {
  const until = operator.peek()?.fresh_until;
  return until != null && Date.parse(until) - serviceNowMs() > 60_000;
}

/** Reads who is signed in. */
export async function loadSession(): Promise<void> {
  try {
    operator.value = await callOnce(session.viewSession, {});
    sessionError.value = null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) forgetOperator();
    else sessionError.value = error;
  }
}

/**
 * Reads the operator again: its name or role may have changed, and another one may have signed in in another tab.
 * @throws ApiError
 */
export async function refreshSession(): Promise<void> {
  setOperator(await call(session.viewSession, {}));
}

/** Stores the operator that signed in, or proved freshness. */
export function setOperator(next: CurrentOperator): void {
  if (operator.peek()?.id !== next.id) forgetData();
  operator.value = next;
  sessionError.value = null;
}

/** Ends the session. */
export async function signOut(): Promise<void> {
  try {
    await callOnce(session.signOut, {});
  } catch (error) {
    // A session that ended already has the same result.
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
  }
  forgetOperator();
}

/** Returns to the sign-in page, with nothing of the operator left for the next one in the tab. */
export function forgetOperator(): void {
  operator.value = null;
  forgetData();
}

const forgetters = [forgetResources];

/** Adds how a page forgets what it remembers for the operator beyond its own life. */
export function onForget(forget: () => void): void {
  forgetters.push(forget);
}

function forgetData(): void {
  for (const forget of forgetters) forget();
}
