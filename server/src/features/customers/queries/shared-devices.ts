import { Type } from 'typebox';

import { defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

import type { SharedDevice } from '../facts.ts';

const Row = Type.Object({ id: Type.String(), otherLicenses: Type.Number() });

/** A broken client may use one id on all machines. */
const LONG_STATEMENT_MS = 60_000;

/** The activations of a person, by which the others of the same installs and machines are found. */
export interface PersonsDevices {
  readonly licenseIds: readonly string[];
  readonly installIds: readonly string[];
  readonly machineIds: readonly string[];
  readonly machineDigests: readonly string[];
}

// A trial on a machine of the person is the person's own, before the purchase; on another machine it is a stranger's.
const installsStatement = defineStatement(
  'customer_list_shared_installs',
  Row,
  `select activations.install_id as id, count(distinct activations.license_id) as "otherLicenses"
   from activations
   join licenses on licenses.id = activations.license_id
   where activations.install_id = any ($2::uuid[]) and activations.license_id <> all ($1::uuid[])
     and not (licenses.trial and (coalesce(activations.machine_id = any ($3::text[]), false) or activations.machine_digest = any ($4::text[])))
   group by activations.install_id
   order by activations.install_id`,
);

/** Lists the installs of a person on which licenses of others were activated, at any time. */
export function listSharedInstalls(
  db: Queryable,
  { licenseIds, installIds, machineIds, machineDigests }: PersonsDevices,
): Promise<SharedDevice[]> {
  const parameters = [licenseIds, installIds, machineIds, machineDigests];
  return queryRows(db, installsStatement, parameters, LONG_STATEMENT_MS);
}

// The first condition is that of the index activations_machine.
const machinesStatement = defineStatement(
  'customer_list_shared_machines',
  Row,
  `select activations.machine_id as id, count(distinct activations.license_id) as "otherLicenses"
   from activations
   join licenses on licenses.id = activations.license_id
   where left(coalesce(activations.machine_id, activations.machine_digest), 200)
           = any (select left(id, 200) from unnest($2::text[]) as id)
     and activations.machine_id = any ($2::text[]) and activations.license_id <> all ($1::uuid[])
     and not licenses.trial
   group by activations.machine_id
   order by activations.machine_id`,
);

/** Lists the machines of a person on which licenses of others were activated, at any time; trials have no customer. */
export function listSharedMachines(
  db: Queryable,
  { licenseIds, machineIds }: PersonsDevices,
): Promise<SharedDevice[]> {
  return queryRows(db, machinesStatement, [licenseIds, machineIds], LONG_STATEMENT_MS);
}
