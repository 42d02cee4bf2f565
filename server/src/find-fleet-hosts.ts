import type { IncomingHttpHeaders } from 'node:http';

import type { Context } from './context.ts';
import { isDatabaseUnavailable } from './db/database-errors.ts';
import { PublicError } from './errors.ts';
import { listFleetHosts } from './features/fleet/list-servers.ts';
import { authenticateOperator } from './features/operators/authenticate.ts';
import { VIEWER } from './http/require-operator.ts';
import { readSessionToken } from './http/session-cookie.ts';

/**
 * Returns the hosts that the fleet page of an operator connects to, such as `web-1.example.com:4096`; none for a visitor who is
 * not signed in, and none without a database: the page then reports that, and is loaded again later.
 */
export async function findFleetHosts(
  context: Context,
  headers: IncomingHttpHeaders,
): Promise<readonly string[]> {
  const token = readSessionToken(headers, context.config.http.publicUrl);
  if (token === null) return [];
  try {
    await authenticateOperator(context, { kind: 'session', token }, VIEWER.access);
    return await context.databaseLimiter.run(() => listFleetHosts(context));
  } catch (error) {
    if (error instanceof PublicError || isDatabaseUnavailable(error)) return [];
    throw error;
  }
}
