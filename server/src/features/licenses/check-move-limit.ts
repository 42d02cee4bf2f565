import type { Queryable } from '#server/db/statement.ts';
import { moveLimitReached } from '#server/errors.ts';

import type { LicenseDependencies } from './dependencies.ts';
import { refuse } from './find-license.ts';
import { listMoveCandidates } from './queries/activations.ts';
import type { LicenseRecord } from './queries/licenses.ts';
import { findMove, useExtraMove } from './queries/moves.ts';
import type { IdentifiedMachine } from './read-machine.ts';
import { endOfMove, findMachine, readMoveAllowance } from './rules/decide-activation.ts';

/**
 * Checks whether a locked license may move to a machine without an activation. A machine to which the license moved
 * within the period may always return. Any other machine is a move; at the limit it uses an extra move that an operator
 * allowed. A machine counts from its move and not from its last use: returning would otherwise extend the period for any
 * number of machines.
 * @returns whether the activation counts as a move
 * @throws moveLimitReached
 */
export async function checkMoveLimit(
  deps: LicenseDependencies,
  client: Queryable,
  license: LicenseRecord,
  { identity, olderIdentities }: IdentifiedMachine,
  now: Date,
): Promise<boolean> {
  const product = deps.catalog().products.get(license.productId);
  const allowance = readMoveAllowance(license, product?.moves, now);
  for (const presented of [identity, ...olderIdentities]) {
    const candidates = await listMoveCandidates(client, license.id, presented, allowance.since);
    if (findMachine(candidates, presented) !== undefined) return false;
  }
  const move = await findMove(client, license.id, allowance.since, allowance.limit);
  if (move === null) return true;
  if (await useExtraMove(client, license.id)) return true;
  const { limit, days } = allowance;
  throw refuse(deps, 'activate', moveLimitReached(limit, days, endOfMove(move, allowance)));
}
