import {
  LicenseActivate,
  LicenseActivateResponse,
  LicenseAirgapActivate,
  LicenseAirgapActivateResponse,
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

import type { App } from '#server/http/app-instance.ts';

import { activateAirgapped, AIRGAP_PROBLEMS } from './activate-airgapped.ts';
import { ACTIVATION_PROBLEMS, activateLicense } from './activate.ts';
import { checkTransaction } from './check-transaction.ts';
import { deactivateLicense } from './deactivate.ts';
import type { LicenseDependencies } from './dependencies.ts';
import { listActivations } from './list-activations.ts';
import { validateLicense } from './validate.ts';

const activateOperation = {
  operationId: 'activateLicense',
  tags: ['licenses'],
  summary: 'Activate a license on a machine',
  description: 'The same machine gets its existing activation, however often it activates.',
  body: ref(LicenseActivate),
  response: { 200: ref(LicenseActivateResponse, 'The activation.') },
  problems: [...ACTIVATION_PROBLEMS],
} satisfies FastifySchema;

const activateAirgappedOperation = {
  operationId: 'activateAirgapped',
  tags: ['licenses'],
  summary: 'Activate a license on a machine without a connection',
  description:
    'For a machine that never reaches the service: its software shows a request, a person sends it here from another ' +
    'machine (as the page `/my` does) and takes the entitlement back. Only for products with `airgap_days` in the ' +
    'catalogue. The machine counts like any other; its next request renews the entitlement.',
  body: ref(LicenseAirgapActivate),
  response: { 200: ref(LicenseAirgapActivateResponse, 'The activation, with its entitlement.') },
  problems: [...AIRGAP_PROBLEMS],
} satisfies FastifySchema;

export const validateOperation = {
  operationId: 'validateLicense',
  tags: ['licenses'],
  summary: 'Validate an activation',
  description: 'Always 200: an invalid activation has `valid: false` and a `reason`.',
  body: ref(LicenseValidate),
  response: {
    200: ref(LicenseValidateResponse, 'Whether the activation is valid, and why.'),
  },
  problems: ['rate_limited'],
} satisfies FastifySchema;

const deactivateOperation = {
  operationId: 'deactivateLicense',
  tags: ['licenses'],
  summary: 'Deactivate a machine',
  description:
    'Works with every status of the license, and can be repeated. Another machine may then be activated.',
  body: ref(LicenseDeactivate),
  response: { 200: ref(LicenseDeactivateResponse, 'The activation is inactive.') },
  problems: ['license_not_found', 'activation_not_found', 'machine_mismatch', 'rate_limited'],
} satisfies FastifySchema;

const listActivationsOperation = {
  operationId: 'listActivations',
  tags: ['licenses'],
  summary: 'List the machines of a license',
  description:
    'Active machines first, then deactivated ones, each oldest first; at most 1,000 in all.',
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
  summary: 'Get the license of a checkout',
  description:
    'Poll it after a checkout: `status` is `pending` until the license exists. One checkout may be polled as long as needed; a network that looks up many unknown ones gets 429.',
  params: TransactionPath,
  response: { 200: ref(LicenseCheckResponse, 'The license, or status `pending`.') },
  problems: ['not_found', 'rate_limited'],
} satisfies FastifySchema;

/** Registers the operations of clients on licenses. */
export function registerLicenseRoutes(app: App, deps: LicenseDependencies): void {
  app.post('/api/v1/licenses/activate', { schema: activateOperation }, (request) =>
    activateLicense(deps, request.body, request.clientNetwork),
  );

  app.post(
    '/api/v1/licenses/activate-airgapped',
    { schema: activateAirgappedOperation },
    (request) => activateAirgapped(deps, request.body, request.clientNetwork),
  );

  app.post('/api/v1/licenses/validate', { schema: validateOperation }, (request) =>
    validateLicense(deps, request.body, request.clientNetwork),
  );

  app.post('/api/v1/licenses/deactivate', { schema: deactivateOperation }, (request) =>
    deactivateLicense(deps, request.body, request.clientNetwork),
  );

  app.get(
    '/api/v1/licenses/:license_key/activations',
    { schema: listActivationsOperation },
    (request) => listActivations(deps, request.params.license_key, request.clientNetwork),
  );

  app.get(
    '/api/v1/licenses/check/:transaction_id',
    { schema: checkTransactionOperation },
    (request) => checkTransaction(deps, request.params.transaction_id, request.clientNetwork),
  );
}
