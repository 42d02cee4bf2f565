import type { Context } from '#server/context.ts';
import type { Queryable } from '#server/db/statement.ts';
import { moveLimitReached } from '#server/errors.ts';

import { refuse } from './find-license.ts';
import type { HashedIdentity } from './fingerprint/identity.ts';
import type { LicenseRecord } from './queries/licenses.ts';
import { findMove, listMovedRelatives, useExtraMove } from './queries/moves.ts';
import type { PresentedMachine } from './read-machine.ts';
import {
  findMachine,
  endOfMove,
  readMoveAllowance,
  type MoveAllowance,
} from './rules/decide-activation.ts';

/**
 * Decides whether a machine may take a free place of a locked license. One that the license moved to within the period may
 * always come back. Another one is a move: at the limit it uses up an extra one that an operator allowed. What counts is
 * when the machine was counted, not when it was last there: returning would otherwise keep any number of machines known.
 * @returns whether the activation counts as a move
 * @throws moveLimitReached
 */
export async function admitMachine(
  ctx: Context,
  client: Queryable,
  license: LicenseRecord,
  { identity, olderIdentities }: PresentedMachine,
  now: Date,
): Promise<boolean> {
  const product = ctx.catalog().products.get(license.productId);
  const allowance = readMoveAllowance(license, product?.moves, now);
  for (const presented of [identity, ...olderIdentities]) {
    if (await isKnown(client, license.id, presented, allowance)) return false;
  }
  const move = await findMove(client, license.id, allowance.since, allowance.limit);
  if (move === null) return true;
  if (await useExtraMove(client, license.id)) return true;
  const { limit, days } = allowance;
  throw refuse(ctx, 'activate', moveLimitReached(limit, days, endOfMove(move, allowance)));
}

async function isKnown(
  client: Queryable,
  licenseId: string,
  identity: HashedIdentity,
  { since }: MoveAllowance,
): Promise<boolean> {
  const moved = await listMovedRelatives(client, licenseId, identity, since);
  const machines = moved.map(({ id, identity: stored }) => ({
    activationId: id,
    identity: stored,
  }));
  return findMachine(machines, identity) !== undefined;
}
