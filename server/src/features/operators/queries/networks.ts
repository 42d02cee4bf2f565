import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  type Queryable,
} from '#server/db/statement.ts';

const DAY_MS = 86_400_000;

/** How long a network is known without a sign-in from it. */
const KNOWN_FOR_MS = 30 * DAY_MS;

/** Networks of one operator; the least recently used are dropped first. */
const MAX_NETWORKS = 100;

const recordStatement = defineCommand(
  'operator_network_record',
  `with old as (
     delete from operator_networks
     where (operator_id, network) <> ($1, $2)
       and (last_signed_in_at <= $4 or operator_id = $1 and network in (
         select network from operator_networks where operator_id = $1 and network <> $2
         order by last_signed_in_at desc, network offset ${MAX_NETWORKS - 1})))
   insert into operator_networks (operator_id, network, last_signed_in_at) values ($1, $2, $3)
   on conflict (operator_id, network) do update
   set last_signed_in_at = greatest(operator_networks.last_signed_in_at, excluded.last_signed_in_at)`,
);

/** Records the network of a sign-in, and deletes networks that are no longer known. */
export async function recordNetwork(
  db: Queryable,
  operatorId: string,
  network: string,
  now: Date,
): Promise<void> {
  await execute(db, recordStatement, [operatorId, network, now, knownSince(now)]);
}

const isKnownStatement = defineStatement(
  'operator_network_is_known',
  Type.Object({ network: Type.String() }),
  `select network from operators join operator_networks on operator_id = operators.id
   where lower(email) = lower($1) and network = $2 and last_signed_in_at > $3`,
);

/** Returns whether the operator with an address signed in from a network within 30 days. */
export async function isKnownNetwork(
  db: Queryable,
  email: string,
  network: string,
  now: Date,
): Promise<boolean> {
  return (await queryRow(db, isKnownStatement, [email, network, knownSince(now)])) !== null;
}

function knownSince(now: Date): Date {
  return new Date(now.getTime() - KNOWN_FOR_MS);
}

const deleteStatement = defineCommand(
  'operator_network_delete_all',
  'delete from operator_networks where operator_id = $1',
);

/** Deletes the networks of an operator. */
export async function deleteNetworks(db: Queryable, operatorId: string): Promise<void> {
  await execute(db, deleteStatement, [operatorId]);
}
