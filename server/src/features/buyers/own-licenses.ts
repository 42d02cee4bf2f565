import { isUuid } from '@latchkey/contract';

import { fillProductLink } from '#server/config/product-links.ts';
import { activationNotFound, licenseNotFound } from '#server/errors.ts';

import { listLastUsesOf } from '../licenses/list-activations.ts';
import type { ActivationRecord } from '../licenses/queries/activations.ts';
import {
  findMachineOf,
  listActiveMachines,
  listDeactivatedMachines,
} from '../licenses/queries/machine-pages.ts';
import { countMoves } from '../licenses/queries/moves.ts';
import { readMoveAllowance } from '../licenses/rules/decide-activation.ts';
import { isSameAddress } from '../key-emails/send-key-email.ts';
import { listTransactionsOfLicense } from '../billing/queries/purchases.ts';
import type { BuyerDependencies } from './dependencies.ts';
import { findOwnLicense, listLicensesOfAddress, type OwnLicense } from './queries/own-licenses.ts';
import { selectOffers } from './rules/select-offers.ts';
import { ownsLicense, type BuyerSession } from './session.ts';

/** The maximum length of a list of licenses. */
export const MAX_LICENSES = 100;

/** The length of a page of machines. */
const MACHINES_PER_PAGE = 50;

const MAX_DEACTIVATED = 20;

/** Lists the licenses of a session, newest first; one more than {@link MAX_LICENSES} if there are more. */
export async function listOwnLicenses(
  deps: BuyerDependencies,
  session: BuyerSession,
): Promise<OwnLicense[]> {
  const { databaseLimiter, pool } = deps;
  if (session.door === 'email') {
    const { email } = session;
    const listed = await databaseLimiter.run(() =>
      listLicensesOfAddress(pool, email, MAX_LICENSES + 1),
    );
    return listed.filter(({ customerEmail }) => isSameAddress(customerEmail, email));
  }
  const license = await findOwn(deps, session, session.licenseId);
  return license === null ? [] : [license];
}

/** Finds a license of a session. @throws licenseNotFound (404) also for a license of somebody else */
export async function requireOwnLicense(
  deps: BuyerDependencies,
  session: BuyerSession,
  licenseId: string,
): Promise<OwnLicense> {
  const license = isUuid(licenseId) ? await findOwn(deps, session, licenseId) : null;
  if (license === null) throw licenseNotFound();
  return license;
}

async function findOwn(
  { databaseLimiter, pool }: BuyerDependencies,
  session: BuyerSession,
  licenseId: string,
): Promise<OwnLicense | null> {
  return databaseLimiter.run(async () => {
    const license = await findOwnLicense(pool, licenseId);
    return license !== null && (await ownsLicense(pool, session, license)) ? license : null;
  });
}

/** A machine as its owner sees it. */
export interface OwnMachine {
  readonly activationId: string;
  /** What the software calls the machine; a hash where it has no id. */
  readonly machineId: string;
  readonly osVersion: string | null;
  readonly appVersion: string | null;
  readonly lastSeenAt: Date;
  readonly activatedAt: Date;
  readonly deactivatedAt: Date | null;
  readonly airgappedUntil: Date | null;
}

/** A page of the machines of a license. */
export interface OwnMachines {
  readonly license: OwnLicense;
  readonly active: readonly OwnMachine[];
  /** The last ones; only on the first page. */
  readonly deactivated: readonly OwnMachine[];
  readonly page: number;
  readonly pages: number;
  /** How many more different machines the license can be activated on within a number of days. */
  readonly moves: { readonly left: number; readonly days: number };
  /** The payment provider that sold the license; null: none. */
  readonly provider: string | null;
}

/**
 * Reads a page of the machines of a license.
 * @param page from 1; one that does not exist is the last one
 * @throws licenseNotFound (404)
 */
export async function listOwnMachines(
  deps: BuyerDependencies,
  session: BuyerSession,
  licenseId: string,
  page: number,
): Promise<OwnMachines> {
  const license = await requireOwnLicense(deps, session, licenseId);
  const pages = Math.max(1, Math.ceil(license.active / MACHINES_PER_PAGE));
  const shown = Math.min(page, pages);
  const { databaseLimiter, pool } = deps;
  return databaseLimiter.run(async () => {
    const range = { offset: (shown - 1) * MACHINES_PER_PAGE, limit: MACHINES_PER_PAGE };
    const active = await listActiveMachines(pool, license.id, range);
    const deactivated =
      shown === 1 ? await listDeactivatedMachines(pool, license.id, MAX_DEACTIVATED) : [];
    const [bought] = await listTransactionsOfLicense(pool, license.id);
    return {
      license,
      active: await describe(deps, active),
      deactivated: await describe(deps, deactivated),
      page: shown,
      pages,
      moves: await readMoves(deps, license),
      provider: bought?.provider ?? null,
    };
  });
}

/** Returns how many more different machines a license can be activated on within the period of its limit. */
export async function readMoves(
  { catalog, clock, pool }: BuyerDependencies,
  license: OwnLicense,
): Promise<OwnMachines['moves']> {
  const rule = catalog().products.get(license.productId)?.moves;
  const allowance = readMoveAllowance(license, rule, clock.now());
  const { used, extra } = await countMoves(pool, license.id, allowance);
  return { left: Math.max(0, allowance.limit - used) + extra, days: allowance.days };
}

async function describe(
  deps: BuyerDependencies,
  activations: readonly ActivationRecord[],
): Promise<OwnMachine[]> {
  const uses = await listLastUsesOf(deps, activations);
  return activations.map((activation, index) => {
    const use = uses[index] ?? null;
    const { lastValidatedAt, versionsReportedAt } = activation;
    const newer = use !== null && use.lastAt >= versionsReportedAt ? use : null;
    return {
      activationId: activation.id,
      machineId: activation.machineId ?? activation.identity.digest,
      osVersion: newer?.osVersion ?? activation.osVersion,
      appVersion: newer?.appVersion ?? activation.appVersion,
      lastSeenAt: use !== null && use.lastAt > lastValidatedAt ? use.lastAt : lastValidatedAt,
      activatedAt: activation.activatedAt,
      deactivatedAt: activation.deactivatedAt,
      airgappedUntil: activation.airgappedUntil,
    };
  });
}

/** Finds a machine of a license of a session. @throws licenseNotFound, activationNotFound (404) */
export async function requireOwnMachine(
  deps: BuyerDependencies,
  session: BuyerSession,
  licenseId: string,
  activationId: string,
): Promise<{ readonly license: OwnLicense; readonly machine: OwnMachine }> {
  const license = await requireOwnLicense(deps, session, licenseId);
  const machine = await deps.databaseLimiter.run(async () => {
    if (!isUuid(activationId)) return null;
    const found = await findMachineOf(deps.pool, license.id, activationId);
    return found === null ? null : (await describe(deps, [found]))[0];
  });
  if (machine === null || machine === undefined) throw activationNotFound();
  return { license, machine };
}

/** Returns how long an entitlement for a machine without a connection is valid; null: a license gets none. */
export function airgapDaysOf(
  { catalog }: Pick<BuyerDependencies, 'catalog'>,
  { productId, trial }: { readonly productId: string; readonly trial: boolean },
): number | null {
  return trial ? null : (catalog().products.get(productId)?.airgapDays ?? null);
}

/** Returns the page of the payment provider that sold a license; null: none is known. */
export function findPortal(
  { catalog }: Pick<BuyerDependencies, 'catalog'>,
  { provider }: Pick<OwnMachines, 'provider'>,
): string | null {
  const entries = Object.entries(catalog().buyers.portals);
  return entries.find(([name]) => name === provider)?.[1] ?? null;
}

/** Where a buyer buys for a license; null: not offered. */
export interface BuyLinks {
  readonly renewal: string | null;
  readonly upgrade: string | null;
}

/** Returns where a buyer renews or upgrades a license. */
export function findBuyLinks(
  { catalog, clock }: Pick<BuyerDependencies, 'catalog' | 'clock'>,
  license: OwnLicense,
): BuyLinks {
  const product = catalog().products.get(license.productId);
  const offers = selectOffers(license, clock.now());
  const fill = (isOffered: boolean, template: string | undefined): string | null =>
    isOffered && template !== undefined ? fillProductLink(template, license.id) : null;
  return {
    renewal: fill(offers.renewal, product?.renewUrl),
    upgrade: fill(offers.upgrade, product?.upgradeUrl),
  };
}
