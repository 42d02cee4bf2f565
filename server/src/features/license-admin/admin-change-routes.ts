import * as contract from '@latchkey/contract';

import type { App } from '#server/http/app-instance.ts';
import { serveOperation } from '#server/http/serve-operation.ts';

import { resendLicenseKey } from '../key-emails/resend-license-key.ts';
import { reinstateAndSend } from '../billing/reinstate-license.ts';
import * as changes from '../licenses/change-license.ts';
import { changeOwner } from '../licenses/change-owner.ts';
import { freeMachine } from '../licenses/free-machine.ts';
import {
  applyChange,
  applyExtension,
  applyRekey,
  applyUpdatesChange,
  revealKey,
} from './change-license.ts';
import { importForOperator, issueForOperator, issueManyForOperator } from './create-licenses.ts';
import { describeLicense, type LicenseAdminDependencies } from './describe-license.ts';

/** Registers the operations that change licenses. */
export function registerLicenseChangeRoutes(app: App, deps: LicenseAdminDependencies): void {
  registerStates(app, deps);
  registerTerms(app, deps);
  registerKeysAndMachines(app, deps);
  serveOperation(app, contract.issueLicense, ({ body, operator }) =>
    issueForOperator(deps, body, operator.actor),
  );
  serveOperation(app, contract.issueLicenses, ({ body, operator }) =>
    issueManyForOperator(deps, body, operator.actor),
  );
  serveOperation(app, contract.importLicenses, ({ body, operator }) =>
    importForOperator(deps, body, operator.actor),
  );
}

function registerStates(app: App, deps: LicenseAdminDependencies): void {
  serveOperation(app, contract.suspendLicense, (request) =>
    applyChange(deps, request, (change) => changes.suspendLicense(deps, change)),
  );
  serveOperation(app, contract.reinstateLicense, (request) =>
    applyChange(deps, request, (change) => reinstateAndSend(deps, change)),
  );
  serveOperation(app, contract.revokeLicense, (request) =>
    applyChange(deps, request, (change) => changes.revokeLicense(deps, change)),
  );
}

function registerTerms(app: App, deps: LicenseAdminDependencies): void {
  serveOperation(app, contract.extendLicense, (request) => applyExtension(deps, request));
  serveOperation(app, contract.changeLicenseUpdates, (request) =>
    applyUpdatesChange(deps, request),
  );
  serveOperation(app, contract.changeMachineLimit, (request) => {
    const { max_activations: limit } = request.body;
    return applyChange(deps, request, (change) => changes.changeMachineLimit(deps, change, limit));
  });
  serveOperation(app, contract.allowLicenseMoves, (request) => {
    const { count } = request.body;
    return applyChange(deps, request, (change) => changes.allowMoves(deps, change, count));
  });
  serveOperation(app, contract.changeLicenseOwner, (request) => {
    const { customer_email: customerEmail, customer_name: customerName, note } = request.body;
    const owner = { customerEmail, customerName, note };
    return applyChange(deps, request, (change) => changeOwner(deps, change, owner));
  });
}

function registerKeysAndMachines(app: App, deps: LicenseAdminDependencies): void {
  serveOperation(app, contract.revealLicenseKey, async ({ params, body, operator }) => {
    const access = { actor: operator.actor, reason: body.reason ?? null };
    return { license_key: await revealKey(deps, params.id, access) };
  });
  serveOperation(app, contract.rekeyLicense, (request) => applyRekey(deps, request));
  serveOperation(app, contract.resendLicenseKey, async ({ params, body, operator }) => {
    const resend = { licenseId: params.id, actor: operator.actor, reason: body.reason };
    return { mail: await resendLicenseKey(deps, resend) };
  });
  serveOperation(app, contract.freeMachine, async ({ params, body, operator }) => {
    const { id: licenseId, activation_id: activationId } = params;
    const change = { actor: operator.actor, reason: body.reason };
    await freeMachine(deps, { licenseId, activationId: activationId.toLowerCase(), ...change });
    return describeLicense(deps, licenseId);
  });
}
