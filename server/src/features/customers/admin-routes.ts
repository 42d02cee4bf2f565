import * as contract from '@latchkey/contract';
import type { CustomerErased } from '@latchkey/contract';

import { answerJsonFile } from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { OWN_SLOTS } from '#server/http/database-slots.ts';
import { serveOperation } from '#server/http/serve-operation.ts';
import { createSerialLimiter, type ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';

import { registerInstallRoutes, type PersonalDataDependencies } from './admin-install-routes.ts';
import { downloadCustomer } from './download-customer.ts';
import { eraseCustomer, type ErasureResult } from './erase-customer.ts';
import type { SharedDeviceChoice } from './facts.ts';
import { listCustomerPayments } from './list-customer-payments.ts';
import { readPersonalData } from './personal-data.ts';
import { planErasure } from './plan-erasure.ts';
import { showCustomer, viewSharedDevices } from './show-customer.ts';

/** Registers the operations on the data of one person, and on installs and machines. */
export function registerCustomerRoutes(app: App, deps: PersonalDataDependencies): void {
  // Reads of whole tables wait for each other.
  const longWork = createSerialLimiter(30);
  registerInstallRoutes(app, deps, longWork);
  serveOperation(app, contract.showCustomer, ({ query }) => showCustomer(deps, query.email));
  serveOperation(app, contract.listCustomerPayments, ({ query }) =>
    listCustomerPayments(deps, query.email),
  );
  serveOperation(
    app,
    contract.exportCustomer,
    ({ body, operator: { actor } }, reply) => {
      const { email, reason } = body;
      const access = { email, actor, reason, included: readIncluded(body) };
      return answerJsonFile(reply, 'customer', downloadCustomer(deps, access, longWork));
    },
    OWN_SLOTS,
  );
  registerErasure(app, deps, longWork);
}

function registerErasure(
  app: App,
  deps: PersonalDataDependencies,
  longWork: ConcurrencyLimiter,
): void {
  const read = (body: IncludedDevices & { readonly email: string }) =>
    readPersonalData(deps, body.email, { included: readIncluded(body) });
  serveOperation(
    app,
    contract.planCustomerErasure,
    ({ body }) =>
      longWork.run(async () => {
        const data = await read(body);
        const tables = [...planErasure(data, body.revoke ?? false)];
        return { tables, unapplied_events: data.unapplied, ...viewSharedDevices(data.person) };
      }),
    OWN_SLOTS,
  );
  serveOperation(
    app,
    contract.eraseCustomer,
    ({ body, operator: { actor } }) =>
      longWork.run(async () => {
        const { reason, revoke = false } = body;
        return viewErased(await eraseCustomer(deps, await read(body), { actor, reason, revoke }));
      }),
    OWN_SLOTS,
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

interface IncludedDevices {
  readonly include_shared_installs?: readonly string[];
  readonly include_shared_machines?: readonly string[];
}

function readIncluded(body: IncludedDevices): SharedDeviceChoice {
  const { include_shared_installs: installs = [], include_shared_machines: machines = [] } = body;
  return { installs: installs.map((id) => id.toLowerCase()), machines };
}
