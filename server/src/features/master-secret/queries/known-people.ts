import { Type } from 'typebox';

import { defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

const addressStatement = defineStatement(
  'master_secret_list_addresses',
  Type.Object({ email: Type.String() }),
  `select email from (
     select email from subscribers where email > $1
     union select customer_email from licenses where customer_email > $1
     union select email from billing_customers where email > $1
   ) known order by email limit $2`,
);

/** The e-mail addresses after one that are stored readable somewhere, in order, each once. */
export async function listKnownAddresses(
  db: Queryable,
  after: string,
  limit: number,
): Promise<string[]> {
  return (await queryRows(db, addressStatement, [after, limit])).map(({ email }) => email);
}

const machineStatement = defineStatement(
  'master_secret_list_machine_ids',
  Type.Object({ machine_id: Type.String() }),
  `select distinct machine_id from activations where machine_id > $1 order by machine_id limit $2`,
);

/** The ids of machines after one that activations hold, in order, each once. */
export async function listKnownMachineIds(
  db: Queryable,
  after: string,
  limit: number,
): Promise<string[]> {
  return (await queryRows(db, machineStatement, [after, limit])).map((row) => row.machine_id);
}
