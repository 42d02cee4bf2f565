/** The credentials of an operator: one-time links, password, one-time codes, recovery codes. */
import {
  beginTotp,
  changeOperatorPassword,
  disableTotp,
  enableTotp,
  redeemOperatorLink,
  renewRecoveryCodes,
  viewOperatorLink,
} from '@latchkey/contract';

import type { App } from '#server/http/app-instance.ts';
import { OWN_SLOTS } from '#server/http/database-slots.ts';
import { DONE } from '#server/http/done.ts';
import { serveOperation } from '#server/http/serve-operation.ts';
import { requireSafeTransport } from '#server/http/session-cookie.ts';

import { clientOf, sendSession } from './admin-access.ts';
import * as credentials from './credentials.ts';
import type { SessionDependencies } from './dependencies.ts';

export function registerCredentialRoutes(app: App, deps: SessionDependencies): void {
  serveOperation(app, viewOperatorLink, ({ body }, _reply, raw) =>
    credentials.viewLink(deps, body.token, clientOf(raw)),
  );
  serveOperation(
    app,
    redeemOperatorLink,
    async ({ body }, reply, raw) => {
      requireSafeTransport(raw.headers, deps.config.http.publicUrl);
      const started = await credentials.redeemLink(deps, body, clientOf(raw));
      return sendSession(deps, raw, reply, started);
    },
    OWN_SLOTS,
  );
  serveOperation(
    app,
    changeOperatorPassword,
    async ({ body, operator }) => {
      await credentials.changePassword(deps, operator, body.password);
      return DONE;
    },
    OWN_SLOTS,
  );
  registerSecondFactors(app, deps);
}

function registerSecondFactors(app: App, deps: SessionDependencies): void {
  serveOperation(app, beginTotp, ({ operator }) => credentials.beginTotp(deps, operator));
  serveOperation(app, enableTotp, ({ body, operator }) =>
    credentials.confirmTotp(deps, operator, body.code),
  );
  serveOperation(app, disableTotp, async ({ operator }) => {
    await credentials.disableTotp(deps, operator);
    return DONE;
  });
  serveOperation(app, renewRecoveryCodes, ({ operator }) =>
    credentials.renewRecoveryCodes(deps, operator),
  );
}
