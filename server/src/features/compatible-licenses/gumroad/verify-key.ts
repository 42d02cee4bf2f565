import { findOrigin } from '../../imports/queries/imported-licenses.ts';
import type { LicenseDependencies } from '../../licenses/dependencies.ts';
import type { Answer } from '../answer.ts';
import { findCompatible } from '../find-compatible.ts';
import { countUse, findUses } from '../queries/uses.ts';
import { describePurchase, findKeyProblem, KEY_NOT_FOUND } from './describe.ts';

/** What a program sent. */
export interface KeyRequest {
  readonly key: string;
  /** The product's id or permalink. */
  readonly productId: string;
  readonly countsUse: boolean;
  readonly network: string;
}

/**
 * Verifies a key, and counts a use if asked to. Gumroad knows no machines: programs compare the uses with a limit of their
 * own.
 * @throws licenseNotFound (404), rateLimited (429)
 */
export async function verifyKey(deps: LicenseDependencies, request: KeyRequest): Promise<Answer> {
  const { key, productId, countsUse, network } = request;
  const found = await findCompatible(deps, 'gumroad', { key, activationId: null, network });
  if (found === null || !found.offer.products.includes(productId)) return refuse(KEY_NOT_FOUND);
  const { license, product } = found;
  const now = deps.clock.now();
  const problem = findKeyProblem(license, now);
  if (problem !== null) return refuse(problem);
  const useOf = countsUse ? countUse : findUses;
  const [uses, origin] = await deps.databaseLimiter.run(async () => [
    await useOf(deps.pool, license.id),
    await findOrigin(deps.pool, license.id),
  ]);
  const sale = {
    id: origin?.source === 'gumroad' ? origin.sourceId : license.id,
    soldAt: origin?.sourceCreatedAt ?? license.createdAt,
  };
  const purchase = describePurchase({ license, key, product, productId, sale }, now);
  return { status: 200, body: { success: true, uses, purchase } };
}

/** Refuses a key, with a status that Gumroad uses for all reasons. */
export function refuse(message: string, status = 404): Answer {
  return { status, body: { success: false, message } };
}
