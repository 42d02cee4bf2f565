import { Type, type Static } from 'typebox';

import {
  defineStatement,
  Nullable,
  queryRow,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

const Instance = Type.Object({
  id: Type.String(),
  name: Nullable.Text,
  createdAt: Timestamp,
});

/** An active machine, as another system's interface calls it. */
export type InstanceRow = Readonly<Static<typeof Instance>>;

const findStatement = defineStatement(
  'compatible_find_instance',
  Instance,
  `select id, machine_id as name, activated_at as "createdAt" from activations
   where license_id = $1 and id = $2 and deactivated_at is null`,
);

/** Finds an active machine of a license. */
export async function findInstance(
  db: Queryable,
  licenseId: string,
  activationId: string,
): Promise<InstanceRow | null> {
  return queryRow(db, findStatement, [licenseId, activationId]);
}
