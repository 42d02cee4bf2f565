import {
  LicenseActivate,
  LicenseActivateResponse,
  LicenseCheckResponse,
  LicenseDeactivate,
  LicenseDeactivateResponse,
  LicenseKeyPath,
  LicenseValidate,
  LicenseValidateResponse,
  MachineInfo,
  TransactionPath,
  ref,
} from '@latchkey/contract';
import type { FastifySchema } from 'fastify';
import { Type } from 'typebox';

import type { Context } from '#server/context.ts';
import type { App } from '#server/http/app-instance.ts';

import { activateLicense } from './activate.ts';
import { checkTransaction } from './check-transaction.ts';
import { deactivateLicense } from './deactivate.ts';
import { listActivations } from './list-activations.ts';
import { validateLicense } from './validate.ts';

const activateOperation = {
  operationId: 'activateLicense',
  tags: ['licenses'],
  summary: 'Activate a license on a machine',
  description:
    'The same machine gets its activation back and takes no second slot, however often it asks.',
  body: ref(LicenseActivate),
  response: { 200: ref(LicenseActivateResponse, 'The activation.') },
  problems: [
    'license_not_found',
    'activation_limit_reached',
    'move_limit_reached',
    'license_expired',
    'license_paused',
    'license_canceled',
    'license_refunded',
    'license_suspended',
    'license_revoked',
    'rate_limited',
  ],
} satisfies FastifySchema;

export const validateOperation = {
  operationId: 'validateLicense',
  tags: ['licenses'],
  summary: 'Ask whether an activation is valid',
  description: 'Always 200: an activation that is not valid has `valid: false` and a `reason`.',
  body: ref(LicenseValidate),
  response: {
    200: ref(LicenseValidateResponse, 'Whether the activation is valid, and why.'),
  },
  problems: ['rate_limited'],
} satisfies FastifySchema;

const deactivateOperation = {
  operationId: 'deactivateLicense',
  tags: ['licenses'],
  summary: 'Free the slot of a machine',
  description: 'Works in every state of the license, and as often as it is asked.',
  body: ref(LicenseDeactivate),
  response: { 200: ref(LicenseDeactivateResponse, 'The activation is inactive.') },
  problems: ['license_not_found', 'activation_not_found', 'machine_mismatch', 'rate_limited'],
} satisfies FastifySchema;

const listActivationsOperation = {
  operationId: 'listActivations',
  tags: ['licenses'],
  summary: 'List the machines of a license',
  description:
    'Those that hold a slot come first, then those that were deactivated, each the oldest first; at most 1,000 in all.',
  params: LicenseKeyPath,
  response: {
    200: Type.Array(ref(MachineInfo), {
      description: 'The machines, deactivated ones included.',
    }),
  },
  problems: ['license_not_found', 'rate_limited'],
} satisfies FastifySchema;

const checkTransactionOperation = {
  operationId: 'checkTransaction',
  tags: ['licenses'],
  summary: 'Ask whether a checkout has made its license',
  description:
    'To be polled after a checkout: `status` is `pending` until the license exists. One checkout may be polled for as long as it takes; a network that asks for many unknown ones gets 429.',
  params: TransactionPath,
  response: { 200: ref(LicenseCheckResponse, 'The license, or that it is still pending.') },
  problems: ['not_found', 'rate_limited'],
} satisfies FastifySchema;

/** Activation, validation and deactivation of licenses, and what can be asked about them. */
export function registerLicenseRoutes(app: App, ctx: Context): void {
  app.post('/api/v1/licenses/activate', { schema: activateOperation }, (request) =>
    activateLicense(ctx, request.body, request.clientNetwork),
  );

  app.post('/api/v1/licenses/validate', { schema: validateOperation }, (request) =>
    validateLicense(ctx, request.body, request.clientNetwork),
  );

  app.post('/api/v1/licenses/deactivate', { schema: deactivateOperation }, (request) =>
    deactivateLicense(ctx, request.body, request.clientNetwork),
  );

  app.get(
    '/api/v1/licenses/:license_key/activations',
    { schema: listActivationsOperation },
    (request) => listActivations(ctx, request.params.license_key, request.clientNetwork),
  );

  app.get(
    '/api/v1/licenses/check/:transaction_id',
    { schema: checkTransactionOperation },
    (request) => checkTransaction(ctx, request.params.transaction_id, request.clientNetwork),
  );
}
