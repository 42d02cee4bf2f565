/** The session of an operator: signing in and out, proof of freshness, sessions. */
import {
  listSessions,
  proveFreshness,
  revokeOtherSessions,
  revokeSession,
  signIn,
  signOut,
  viewSession,
} from '@latchkey/contract';

import type { App } from '#server/http/app-instance.ts';
import { OWN_SLOTS } from '#server/http/database-slots.ts';
import { DONE } from '#server/http/done.ts';
import { serveOperation } from '#server/http/serve-operation.ts';
import { expiredCookie, requireSafeTransport } from '#server/http/session-cookie.ts';

import { clientOf, sendSession } from './admin-access.ts';
import type { SessionDependencies } from './dependencies.ts';
import * as sessions from './sessions.ts';
import * as signIns from './sign-in.ts';

export function registerSessionRoutes(app: App, deps: SessionDependencies): void {
  serveOperation(
    app,
    signIn,
    async ({ body }, reply, raw) => {
      requireSafeTransport(raw.headers, deps.config.http.publicUrl);
      return sendSession(deps, raw, reply, await signIns.signIn(deps, body, clientOf(raw)));
    },
    OWN_SLOTS,
  );
  serveOperation(
    app,
    proveFreshness,
    async ({ body, operator }, reply, raw) => {
      const started = await signIns.proveFreshness(deps, operator, body, clientOf(raw));
      return sendSession(deps, raw, reply, started);
    },
    OWN_SLOTS,
  );
  serveOperation(app, signOut, async ({ operator }, reply) => {
    await sessions.signOut(deps, operator);
    reply.header('set-cookie', expiredCookie(deps.config.http.publicUrl));
    return DONE;
  });
  registerOwnSessions(app, deps);
}

function registerOwnSessions(app: App, deps: SessionDependencies): void {
  serveOperation(app, viewSession, ({ operator }) => sessions.viewCurrent(deps, operator));
  serveOperation(app, listSessions, ({ operator }) => sessions.listSessions(deps, operator));
  serveOperation(app, revokeOtherSessions, async ({ operator }) => {
    await sessions.revokeOtherSessions(deps, operator);
    return DONE;
  });
  serveOperation(app, revokeSession, async ({ params, operator }) => {
    await sessions.revokeSession(deps, operator, params.id);
    return DONE;
  });
}
