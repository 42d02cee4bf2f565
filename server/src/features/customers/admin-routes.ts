import {
  Customer,
  CustomerErase,
  CustomerErased,
  CustomerErasurePlan,
  CustomerErasurePlanRequest,
  CustomerExport,
  CustomerPayments,
  CustomerQuery,
  ref,
} from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import { answerJsonFile, jsonFileAnswer } from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { OWN_SLOTS } from '#server/http/database-slots.ts';
import { ADMIN_FRESH, SUPPORT_FRESH, VIEWER, operatorOf } from '#server/http/require-operator.ts';
import { createSerialLimiter } from '#server/lib/concurrency-limiter.ts';

import {
  registerInstallRoutes,
  TAGS,
  type PersonalDataDependencies,
} from './admin-install-routes.ts';
import { eraseCustomer, type ErasureResult } from './erase-customer.ts';
import type { SharedDeviceChoice } from './facts.ts';
import { downloadCustomer } from './download-customer.ts';
import { listCustomerPayments } from './list-customer-payments.ts';
import { readPersonalData } from './personal-data.ts';
import { planErasure } from './plan-erasure.ts';
import { showCustomer, viewSharedDevices } from './show-customer.ts';

const PATH = '/api/v1/admin/customer';

/** Registers the operations on the data of one person, and on installs and machines. */
export function registerCustomerRoutes(app: App, deps: PersonalDataDependencies): void {
  // Reads of whole tables wait for each other.
  const longWork = createSerialLimiter(30);
  registerInstallRoutes(app, deps, longWork);
  app.get(PATH, { config: VIEWER, schema: showOperation }, ({ query }) =>
    showCustomer(deps, query.email),
  );
  app.get(`${PATH}/payments`, { config: VIEWER, schema: paymentsOperation }, ({ query }) =>
    listCustomerPayments(deps, query.email),
  );
  app.post(
    `${PATH}/export`,
    { config: { ...SUPPORT_FRESH, ...OWN_SLOTS }, schema: exportOperation },
    async (request, reply) => {
      const { email, reason } = request.body;
      const { actor } = operatorOf(request);
      const included = readIncluded(request.body);
      const pieces = downloadCustomer(deps, { email, actor, reason, included }, longWork);
      return answerJsonFile(reply, 'customer', pieces);
    },
  );
  app.post(
    `${PATH}/plan-erasure`,
    { config: { ...ADMIN_FRESH, ...OWN_SLOTS }, schema: planOperation },
    ({ body }) =>
      longWork.run(async () => {
        const data = await readPersonalData(deps, body.email, { included: readIncluded(body) });
        const tables = planErasure(data, body.revoke ?? false);
        return {
          tables: [...tables],
          unapplied_events: data.unapplied,
          ...viewSharedDevices(data.person),
        };
      }),
  );
  app.post(
    `${PATH}/erase`,
    { config: { ...ADMIN_FRESH, ...OWN_SLOTS }, schema: eraseOperation },
    (request) =>
      longWork.run(async () => {
        const { email, reason, revoke = false } = request.body;
        const included = readIncluded(request.body);
        const data = await readPersonalData(deps, email, { included });
        const { actor } = operatorOf(request);
        const erasure = { actor, reason, revoke };
        return viewErased(await eraseCustomer(deps, data, erasure));
      }),
  );
}

function viewErased({ licenses, archives, ...counts }: ErasureResult): CustomerErased {
  return {
    licenses,
    removed_bodies: counts.removedBodies,
    kept_bodies: counts.keptBodies,
    kept_installs: counts.keptInstalls,
    kept_machines: counts.keptMachines,
    archives,
  };
}

function readIncluded(body: {
  readonly include_shared_installs?: readonly string[];
  readonly include_shared_machines?: readonly string[];
}): SharedDeviceChoice {
  const { include_shared_installs: installs = [], include_shared_machines: machines = [] } = body;
  return { installs: installs.map((id) => id.toLowerCase()), machines };
}

const showOperation = {
  operationId: 'showCustomer',
  tags: TAGS,
  summary: 'Show what belongs to the owner of an e-mail address',
  description: 'An unknown address is answered with empty lists.',
  querystring: CustomerQuery,
  response: { 200: ref(Customer, 'Licenses, payments, e-mails and subscriptions.') },
} satisfies FastifySchema;

const paymentsOperation = {
  operationId: 'listCustomerPayments',
  tags: TAGS,
  summary: 'List all purchases and refunds of the owner of an e-mail address',
  description:
    'Money that two events report is listed once. An unknown address is answered with empty lists.',
  querystring: CustomerQuery,
  response: { 200: ref(CustomerPayments, 'Payments, refunds and disputes, and their totals.') },
} satisfies FastifySchema;

const exportOperation = {
  operationId: 'exportCustomer',
  tags: TAGS,
  summary: 'Export all data stored about the owner of an e-mail address',
  description:
    'Reads all payment events, which may take minutes; spaces are sent until the data begin. One at a time. The audit log records each export.',
  body: ref(CustomerExport),
  response: jsonFileAnswer('The rows of every table, and the events of the installs.'),
} satisfies FastifySchema;

const planOperation = {
  operationId: 'planCustomerErasure',
  tags: TAGS,
  summary: 'List what an erasure would delete and keep',
  description: 'Changes nothing. Reads all payment events, which may take minutes.',
  body: ref(CustomerErasurePlanRequest),
  response: { 200: ref(CustomerErasurePlan, 'The tables with data of the person.') },
} satisfies FastifySchema;

const eraseOperation = {
  operationId: 'eraseCustomer',
  tags: TAGS,
  summary: 'Erase the owner of an e-mail address',
  description:
    'Licenses stay valid without their customer, unless `revoke` is true. Erase the customer at the payment provider first, since data that it sends later is stored again. Archived events stay in the files of `archives`. If it is interrupted, repeat it.',
  body: ref(CustomerErase),
  response: { 200: ref(CustomerErased, 'The data was erased.') },
} satisfies FastifySchema;
