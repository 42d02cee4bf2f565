import {
  AdminLicenseDetails,
  AdminLicensePath,
  AdminMachinePath,
  ImportedLicenses,
  IssuedLicense,
  IssuedLicenses,
  LicenseChange,
  LicenseExtend,
  LicenseImport,
  LicenseIssue,
  LicensesIssue,
  LicenseLimitChange,
  LicenseMailOutcome,
  LicenseMovesChange,
  LicenseOwnerChange,
  LicenseReason,
  LicenseRekey,
  LicenseUpdatesChange,
  RekeyedLicense,
  ref,
} from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import type { App } from '#server/http/app-instance.ts';
import { ADMIN, ADMIN_FRESH, SUPPORT, operatorOf } from '#server/http/require-operator.ts';

import { reinstateAndSend } from '../billing/reinstate-license.ts';
import { resendLicenseKey } from '../billing/key-emails/resend-license-key.ts';
import {
  allowMoves,
  changeMachineLimit,
  revokeLicense,
  suspendLicense,
  type ManualChange,
} from '../licenses/change-license.ts';
import { changeOwner } from '../licenses/change-owner.ts';
import { freeMachine } from '../licenses/free-machine.ts';
import { applyChange, applyExtension, applyRekey, applyUpdatesChange } from './change-license.ts';
import { importForOperator, issueForOperator, issueManyForOperator } from './create-licenses.ts';
import { describeLicense, type LicenseAdminDependencies } from './describe-license.ts';

const PATH = '/api/v1/admin/licenses';
const TAGS = ['admin: licenses'];

/** The longest import has a million characters, of up to four bytes. */
const IMPORT_BODY_BYTES = 4_194_304;

/** Registers the operations that change licenses. */
export function registerLicenseChangeRoutes(app: App, deps: LicenseAdminDependencies): void {
  registerStates(app, deps);
  registerTerms(app, deps);
  registerKeysAndMachines(app, deps);
  app.post(PATH, { config: ADMIN, schema: issueOperation }, (request) =>
    issueForOperator(deps, request.body, operatorOf(request).actor),
  );
  app.post(`${PATH}/batch`, { config: ADMIN, schema: issueManyOperation }, (request) =>
    issueManyForOperator(deps, request.body, operatorOf(request).actor),
  );
  app.post(
    `${PATH}/import`,
    { config: ADMIN, schema: importOperation, bodyLimit: IMPORT_BODY_BYTES },
    (request) => importForOperator(deps, request.body, operatorOf(request).actor),
  );
}

function registerStates(app: App, deps: LicenseAdminDependencies): void {
  const changes = [
    ['suspend', ADMIN, suspendOperation, suspendLicense],
    ['reinstate', ADMIN, reinstateOperation, reinstateAndSend],
    ['revoke', ADMIN_FRESH, revokeOperation, revokeLicense],
  ] as const;
  for (const [verb, config, schema, change] of changes) {
    app.post(`${PATH}/:id/${verb}`, { config, schema }, (request) =>
      applyChange(
        deps,
        request.params.id,
        request.body,
        operatorOf(request).actor,
        (manual: ManualChange) => change(deps, manual),
      ),
    );
  }
}

function registerTerms(app: App, deps: LicenseAdminDependencies): void {
  app.post(`${PATH}/:id/extend`, { config: SUPPORT, schema: extendOperation }, (request) =>
    applyExtension(deps, request.params.id, request.body, operatorOf(request).actor),
  );
  app.post(`${PATH}/:id/change-updates`, { config: SUPPORT, schema: updatesOperation }, (request) =>
    applyUpdatesChange(deps, request.params.id, request.body, operatorOf(request).actor),
  );
  app.post(`${PATH}/:id/change-limit`, { config: ADMIN, schema: limitOperation }, (request) => {
    const { params, body } = request;
    return applyChange(deps, params.id, body, operatorOf(request).actor, (change) =>
      changeMachineLimit(deps, change, body.max_activations),
    );
  });
  app.post(`${PATH}/:id/allow-moves`, { config: SUPPORT, schema: movesOperation }, (request) => {
    const { params, body } = request;
    return applyChange(deps, params.id, body, operatorOf(request).actor, (change) =>
      allowMoves(deps, change, body.count),
    );
  });
  app.post(`${PATH}/:id/change-owner`, { config: ADMIN, schema: ownerOperation }, (request) => {
    const { params, body } = request;
    const { customer_email: customerEmail, customer_name: customerName, note } = body;
    return applyChange(deps, params.id, body, operatorOf(request).actor, (change) =>
      changeOwner(deps, change, { customerEmail, customerName, note }),
    );
  });
}

function registerKeysAndMachines(app: App, deps: LicenseAdminDependencies): void {
  app.post(`${PATH}/:id/rekey`, { config: ADMIN_FRESH, schema: rekeyOperation }, (request) =>
    applyRekey(deps, request.params.id, request.body, operatorOf(request).actor),
  );
  app.post(`${PATH}/:id/resend`, { config: SUPPORT, schema: resendOperation }, async (request) => {
    const change = { actor: operatorOf(request).actor, reason: request.body.reason };
    return { mail: await resendLicenseKey(deps, { licenseId: request.params.id, ...change }) };
  });
  app.post(
    `${PATH}/:id/machines/:activation_id/free`,
    { config: SUPPORT, schema: freeOperation },
    async (request) => {
      const { id: licenseId, activation_id: activationId } = request.params;
      const change = { actor: operatorOf(request).actor, reason: request.body.reason };
      await freeMachine(deps, { licenseId, activationId: activationId.toLowerCase(), ...change });
      return describeLicense(deps, licenseId);
    },
  );
}

const CHANGE = ['license_not_found', 'conflict'] as const;

const changed = { 200: ref(AdminLicenseDetails, 'The license after the change.') };
const common = { tags: TAGS, params: AdminLicensePath } as const;

const suspendOperation = {
  ...common,
  operationId: 'suspendLicense',
  summary: 'Suspend a license until it is reinstated',
  body: ref(LicenseChange),
  response: changed,
  problems: CHANGE,
} satisfies FastifySchema;

const reinstateOperation = {
  ...common,
  operationId: 'reinstateLicense',
  summary: 'Reinstate a suspended, revoked or disputed license',
  description: 'An e-mail with its key that was held back is sent.',
  body: ref(LicenseChange),
  response: changed,
  problems: CHANGE,
} satisfies FastifySchema;

const revokeOperation = {
  ...common,
  operationId: 'revokeLicense',
  summary: 'Revoke a license',
  description: 'It is invalid until it is reinstated.',
  body: ref(LicenseChange),
  response: changed,
  problems: CHANGE,
} satisfies FastifySchema;

const extendOperation = {
  ...common,
  operationId: 'extendLicense',
  summary: 'Change the expiry of a license',
  description: 'By days, or to a date. Payments do not move it back.',
  body: ref(LicenseExtend),
  response: changed,
  problems: CHANGE,
} satisfies FastifySchema;

const updatesOperation = {
  ...common,
  operationId: 'changeLicenseUpdates',
  summary: 'Change until when a license gets new versions',
  description: 'By days, or to a date. Later renewals of its updates extend from the new end.',
  body: ref(LicenseUpdatesChange),
  response: changed,
  problems: CHANGE,
} satisfies FastifySchema;

const limitOperation = {
  ...common,
  operationId: 'changeMachineLimit',
  summary: 'Change how many machines a license allows',
  description: 'Machines beyond a lower limit stay active. Payments do not go below it.',
  body: ref(LicenseLimitChange),
  response: changed,
  problems: CHANGE,
} satisfies FastifySchema;

const movesOperation = {
  ...common,
  operationId: 'allowLicenseMoves',
  summary: 'Allow activations beyond the move limit of a license',
  body: ref(LicenseMovesChange),
  response: changed,
  problems: CHANGE,
} satisfies FastifySchema;

const ownerOperation = {
  ...common,
  operationId: 'changeLicenseOwner',
  summary: 'Change the customer or the note of a license',
  description: 'From a change of the customer on, payments do not change the customer.',
  body: ref(LicenseOwnerChange),
  response: changed,
  problems: CHANGE,
} satisfies FastifySchema;

const rekeyOperation = {
  ...common,
  operationId: 'rekeyLicense',
  summary: 'Replace the key of a license',
  description:
    'The old key is invalid at once. Machines that are kept receive the new key; offline machines continue until their token expires.',
  body: ref(LicenseRekey),
  response: { 200: ref(RekeyedLicense, 'The license and its new key.') },
  problems: CHANGE,
} satisfies FastifySchema;

const resendOperation = {
  ...common,
  operationId: 'resendLicenseKey',
  summary: 'E-mail its key to the customer of a license again',
  body: ref(LicenseReason),
  response: { 200: ref(LicenseMailOutcome, 'Whether the e-mail is queued, or why not.') },
  problems: ['license_not_found'],
} satisfies FastifySchema;

const freeOperation = {
  operationId: 'freeMachine',
  tags: TAGS,
  summary: 'Free a machine of a license',
  description:
    'Works with every status of the license, and can be repeated. An offline machine continues until its token expires.',
  params: AdminMachinePath,
  body: ref(LicenseReason),
  response: changed,
  problems: ['license_not_found', 'activation_not_found'],
} satisfies FastifySchema;

const issueOperation = {
  operationId: 'issueLicense',
  tags: TAGS,
  summary: 'Issue a license',
  description: 'Omitted values follow the product. The key is in the answer.',
  body: ref(LicenseIssue),
  response: { 200: ref(IssuedLicense, 'The license and its key.') },
} satisfies FastifySchema;

const issueManyOperation = {
  operationId: 'issueLicenses',
  tags: TAGS,
  summary: 'Issue several licenses',
  description:
    'With the same terms and a key each. Nothing is e-mailed. The audit log records each license.',
  body: ref(LicensesIssue),
  response: { 200: ref(IssuedLicenses, 'The keys, in plain text.') },
} satisfies FastifySchema;

const importOperation = {
  operationId: 'importLicenses',
  tags: TAGS,
  summary: 'Import licenses with the keys of another system',
  description:
    'Keys that exist already are skipped, so that an import can be repeated. Use the command line for more than 5,000 licenses.',
  body: ref(LicenseImport),
  response: { 200: ref(ImportedLicenses, 'How many were imported, and what was not.') },
} satisfies FastifySchema;
