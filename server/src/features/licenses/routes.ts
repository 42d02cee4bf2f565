import type { Context } from '#server/context.ts';
import type { App } from '#server/http/app-instance.ts';

import { activateLicense } from './activate.ts';
import { checkTransaction } from './check-transaction.ts';
import { deactivateLicense } from './deactivate.ts';
import { listActivations } from './list-activations.ts';
import {
  activateOperation,
  checkTransactionOperation,
  deactivateOperation,
  listActivationsOperation,
  validateOperation,
} from './operations.ts';
import { validateLicense } from './validate.ts';

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
