import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import type { OperatorRole } from '@latchkey/contract';

import { inTransaction } from '#server/db/transaction.ts';
import { createOperator } from '#server/features/operators/manage.ts';
import { findOperatorByEmail } from '#server/features/operators/queries/operators.ts';
import { startSession } from '#server/features/operators/sessions.ts';

import { TEST_ISSUER, type TestService } from './harness.ts';
import { anyAddress, type Answer, type HttpClient, type RequestHeaders } from './http-client.ts';

const change = { actor: 'test', reason: 'a test asks for it' };

export const TEST_PASSWORD = 'a password of the tests';

/** A signed-in browser. */
export interface Browser {
  readonly email: string;
  readonly operatorId: string;
  /** The value of the request header `Cookie`. */
  readonly cookie: string;
  post(path: string, body?: unknown, headers?: RequestHeaders): Promise<Answer>;
  get(path: string): Promise<Answer>;
}

/** Creates an operator without a password, and returns the token of its sign-in link. */
export async function createTestOperator(
  { context }: TestService,
  role: OperatorRole = 'admin',
): Promise<{ readonly id: string; readonly email: string; readonly token: string }> {
  const email = `${role}-${randomUUID()}@example.com`;
  const link = await createOperator(context, { email, name: role, role }, change);
  return { id: link.operatorId, email, token: new URL(link.url).hash.slice(1) };
}

/** Creates an operator with a fresh session, without the costs of a password. */
export async function openBrowser(
  service: TestService,
  role: OperatorRole = 'admin',
): Promise<Browser> {
  const { id, email } = await createTestOperator(service, role);
  const { clock, pool } = service.context;
  const operator = await findOperatorByEmail(pool, email);
  assert.ok(operator);
  const client = { network: '198.18.0.1', userAgent: 'test' };
  const { token } = await inTransaction(pool, (db) =>
    startSession(db, operator, client, 'password', clock.now()),
  );
  return browse(service, { id, email }, `__Host-latchkey=${token}`);
}

/** Creates an operator who redeems its sign-in link with {@link TEST_PASSWORD}. */
export async function redeemAsBrowser(
  service: TestService,
  role: OperatorRole = 'admin',
): Promise<Browser> {
  const operator = await createTestOperator(service, role);
  const body = { token: operator.token, password: TEST_PASSWORD };
  const answer = await service.post('/api/v1/admin/session/redeem', body);
  assert.equal(answer.status, 200, answer.text);
  return browse(service, operator, cookieOf(answer));
}

/** Returns the cookie that an answer sets, as a request sends it. */
export function cookieOf(answer: Answer): string {
  return answer.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
}

/** Returns a browser of the service with a cookie. */
export function browse(
  service: Pick<HttpClient, 'get' | 'post'>,
  { id, email }: { readonly id: string; readonly email: string },
  cookie: string,
): Browser {
  const address = anyAddress();
  return {
    email,
    operatorId: id,
    cookie,
    get: (path) => service.get(path, { cookie, 'x-forwarded-for': address }),
    post: (path, body = {}, headers = {}) =>
      service.post(path, body, {
        cookie,
        origin: TEST_ISSUER,
        'x-forwarded-for': address,
        ...headers,
      }),
  };
}
