/** The credentials of the operator of a session: password, one-time codes, recovery codes. */
import {
  Done,
  OperatorPasswordChange,
  OperatorRecoveryCodes,
  OperatorTotpCode,
  OperatorTotpSecret,
  ref,
} from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import type { App } from '#server/http/app-instance.ts';
import { OWN_SLOTS } from '#server/http/database-slots.ts';
import { DONE } from '#server/http/done.ts';
import { operatorOf } from '#server/http/require-operator.ts';

import { OWN_FRESH, PREFIX, SESSION_TAGS as TAGS } from './admin-access.ts';
import {
  beginTotp,
  changePassword,
  confirmTotp,
  disableTotp,
  renewRecoveryCodes,
} from './credentials.ts';
import type { SessionDependencies } from './dependencies.ts';

export function registerCredentialRoutes(app: App, deps: SessionDependencies): void {
  app.post(
    `${PREFIX}/session/password`,
    { config: { ...OWN_FRESH, ...OWN_SLOTS }, schema: passwordOperation },
    async (request) => {
      await changePassword(deps, operatorOf(request), request.body.password);
      return DONE;
    },
  );
  app.post(`${PREFIX}/session/totp`, { config: OWN_FRESH, schema: beginTotpOperation }, (request) =>
    beginTotp(deps, operatorOf(request)),
  );
  app.post(
    `${PREFIX}/session/totp/enable`,
    { config: OWN_FRESH, schema: enableTotpOperation },
    (request) => confirmTotp(deps, operatorOf(request), request.body.code),
  );
  app.post(
    `${PREFIX}/session/totp/disable`,
    { config: OWN_FRESH, schema: disableTotpOperation },
    async (request) => {
      await disableTotp(deps, operatorOf(request));
      return DONE;
    },
  );
  app.post(
    `${PREFIX}/session/recovery-codes`,
    { config: OWN_FRESH, schema: recoveryOperation },
    (request) => renewRecoveryCodes(deps, operatorOf(request)),
  );
}

const passwordOperation = {
  operationId: 'changeOperatorPassword',
  tags: TAGS,
  summary: 'Change your password',
  description: 'Ends all your other sessions.',
  body: ref(OperatorPasswordChange),
  response: { 200: ref(Done, 'The password was changed.') },
  problems: ['not_possible'],
} satisfies FastifySchema;

const beginTotpOperation = {
  operationId: 'beginTotp',
  tags: TAGS,
  summary: 'Create a secret for one-time codes',
  description:
    'It is not used before it is confirmed by a code. One-time codes that are enabled must be disabled first.',
  response: { 200: ref(OperatorTotpSecret, 'The secret, which cannot be shown again.') },
  problems: ['totp_state'],
} satisfies FastifySchema;

const enableTotpOperation = {
  operationId: 'enableTotp',
  tags: TAGS,
  summary: 'Enable one-time codes',
  body: ref(OperatorTotpCode),
  response: { 200: ref(OperatorRecoveryCodes, 'Signing in needs a code from now on.') },
  problems: ['sign_in_failed', 'totp_state'],
} satisfies FastifySchema;

const disableTotpOperation = {
  operationId: 'disableTotp',
  tags: TAGS,
  summary: 'Disable one-time codes',
  response: { 200: ref(Done, 'Signing in needs no code.') },
} satisfies FastifySchema;

const recoveryOperation = {
  operationId: 'renewRecoveryCodes',
  tags: TAGS,
  summary: 'Replace your recovery codes',
  response: { 200: ref(OperatorRecoveryCodes, 'The previous codes are void.') },
  problems: ['totp_state'],
} satisfies FastifySchema;
