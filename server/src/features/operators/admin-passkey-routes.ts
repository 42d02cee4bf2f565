/** Passkeys: of the operator of a session, and signing in with them. */
import {
  beginPasskey,
  beginPasskeySignIn,
  listPasskeys,
  proveFreshnessWithPasskey,
  registerPasskey,
  removePasskey,
  signInWithPasskey,
} from '@latchkey/contract';

import type { App } from '#server/http/app-instance.ts';
import { NO_SLOT } from '#server/http/database-slots.ts';
import { DONE } from '#server/http/done.ts';
import { serveOperation } from '#server/http/serve-operation.ts';
import { requireSafeTransport } from '#server/http/session-cookie.ts';

import { clientOf, sendSession } from './admin-access.ts';
import type { SessionDependencies } from './dependencies.ts';
import * as passkeys from './passkeys.ts';

export function registerPasskeyRoutes(app: App, deps: SessionDependencies): void {
  serveOperation(app, beginPasskeySignIn, () => passkeys.beginPasskeySignIn(deps), NO_SLOT);
  serveOperation(app, signInWithPasskey, async ({ body }, reply, raw) => {
    requireSafeTransport(raw.headers, deps.config.http.publicUrl);
    const started = await passkeys.signInWithPasskey(deps, body, clientOf(raw));
    return sendSession(deps, raw, reply, started);
  });
  serveOperation(app, proveFreshnessWithPasskey, async ({ body, operator }, reply, raw) => {
    const started = await passkeys.proveWithPasskey(deps, operator, body, clientOf(raw));
    return sendSession(deps, raw, reply, started);
  });
  registerOwnPasskeys(app, deps);
}

function registerOwnPasskeys(app: App, deps: SessionDependencies): void {
  serveOperation(app, listPasskeys, ({ operator }) => passkeys.listPasskeys(deps, operator));
  serveOperation(app, beginPasskey, ({ operator }) => passkeys.beginPasskey(deps, operator));
  serveOperation(app, registerPasskey, ({ body, operator }) =>
    passkeys.registerPasskey(deps, operator, body),
  );
  serveOperation(app, removePasskey, async ({ params, operator }) => {
    await passkeys.removePasskey(deps, operator, params.id);
    return DONE;
  });
}
