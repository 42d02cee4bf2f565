import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

import { parseEmail } from '@latchkey/contract';

import type { Queryable } from '#server/db/statement.ts';
import { mailNotConfigured } from '#server/errors.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';
import type { KeyedHashes } from '#server/lib/vault.ts';
import type { Language } from '@latchkey/contract';

import { lockAddress } from '../suppressions/queries/suppressions.ts';
import { hashAddress } from '../suppressions/address-hash.ts';
import type { BuyerDependencies } from './dependencies.ts';
import { readKnownBrowser } from './known-browser.ts';
import { findEarlierRequest, insertCode, takeTry, useCode } from './queries/codes.ts';
import { CODE_LIMITS, CODE_TERM_MS, deriveCode, MAX_TRIES, readCode } from './rules/code.ts';
import { startEmailSession, type BuyerSession } from './session.ts';

/** 256 bits: only the browser that asked for a code can enter it. */
const TOKEN_BYTES = 32;

const TOKEN = /^[\w-]{43}$/u;

/** The label under which the address of a code is sealed. */
export function codeLabel(tokenHash: string): string {
  return `buyer-code:${tokenHash}`;
}

/** Why no code is sent: `address`: it is none; `limit`: as many were requested for the address as allowed. */
export type CodeRequest =
  | { readonly kind: 'requested'; readonly token: string }
  | { readonly kind: 'address' }
  | { readonly kind: 'limit'; readonly retryAfterSeconds: number };

/** Who requests a code. */
export interface CodeRequester {
  readonly network: string;
  /** What the browser kept since it signed in, see {@link readKnownBrowser}; null: nothing. */
  readonly knownBrowser: string | null;
}

/**
 * Requests a code for an address. The answer and the work are the same whether or not a license has the address: a job
 * examines that, and mails the code.
 * @throws mailNotConfigured (503), rateLimited (429) for a network that requests too many
 */
export async function requestCode(
  deps: BuyerDependencies,
  address: string,
  language: Language,
  { network, knownBrowser }: CodeRequester,
): Promise<CodeRequest> {
  if (deps.mail === null) throw mailNotConfigured();
  const parsed = parseEmail(address.trim());
  if ('fault' in parsed) return { kind: 'address' };
  await deps.buyerLimits.take('codes', network);
  const addressHash = hashAddress(deps.vault, parsed.email);
  const browser = readKnownBrowser(deps, knownBrowser, addressHash);
  const client = `${addressHash} ${browser ?? network}`;
  const retryAfterSeconds = await deps.buyerLimits.tryTake('codesOfAddress', client);
  if (retryAfterSeconds > 0) return { kind: 'limit', retryAfterSeconds };
  const isKnown = browser !== null;
  const requested = await store(deps, { email: parsed.email, addressHash }, language, isKnown);
  if (requested.kind === 'limit') await deps.buyerLimits.refund('codesOfAddress', client);
  return requested;
}

/** Stores and queues a code. @param isKnown whether a browser asks that the limit of all others does not concern */
async function store(
  deps: BuyerDependencies,
  { email, addressHash }: { readonly email: string; readonly addressHash: string },
  language: Language,
  isKnown: boolean,
): Promise<CodeRequest> {
  return deps.databaseLimiter.run(() =>
    inTransaction(deps.pool, async (db) => {
      await lockAddress(db, addressHash);
      const wait = await readWait(db, addressHash, deps.clock.now());
      if (wait > 0 && !isKnown) return { kind: 'limit', retryAfterSeconds: wait };
      return { kind: 'requested', token: await queueCode(deps, db, email, language) };
    }),
  );
}

/** Returns the seconds until an address may request another code, or 0. */
async function readWait(db: Queryable, addressHash: string, now: Date): Promise<number> {
  let wait = 0;
  for (const { codes, periodMs } of CODE_LIMITS) {
    const since = new Date(now.getTime() - periodMs);
    const earlier = await findEarlierRequest(db, addressHash, since, codes);
    if (earlier === null) continue;
    wait = Math.max(wait, 1, Math.ceil((earlier.getTime() + periodMs - now.getTime()) / 1000));
  }
  return wait;
}

async function queueCode(
  { clock, vault }: BuyerDependencies,
  db: Queryable,
  email: string,
  language: Language,
): Promise<string> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const tokenHash = hash('sha256', token, 'hex');
  const requestedAt = clock.now();
  const expiresAt = new Date(requestedAt.getTime() + CODE_TERM_MS);
  const emailSealed = vault.seal(email, codeLabel(tokenHash));
  const code = { emailSealed, language, requestedAt, expiresAt };
  await insertCode(db, { tokenHash, addressHash: hashAddress(vault, email) }, code);
  await addJobs(db, [{ name: 'send_buyer_code', payload: { tokenHash }, key: tokenHash }]);
  return token;
}

/** `wrong`: it can be tried again; `over`: the code is used, expired, or was tried too often. */
export type CodeEntry =
  | { readonly kind: 'right'; readonly session: BuyerSession }
  | { readonly kind: 'wrong'; readonly triesLeft: number }
  | { readonly kind: 'over' };

/**
 * Enters a code, which works once. Every try counts before it is compared, so that concurrent ones are limited too.
 * @param token what the browser got when it requested the code
 * @throws rateLimited (429) for a network that enters too many
 */
export async function enterCode(
  deps: BuyerDependencies,
  token: string | null,
  text: string,
  clientNetwork: string,
): Promise<CodeEntry> {
  await deps.buyerLimits.take('tries', clientNetwork);
  if (token === null || !TOKEN.test(token)) return { kind: 'over' };
  const tokenHash = hash('sha256', token, 'hex');
  return deps.databaseLimiter.run(() =>
    inTransaction(deps.pool, (db) => compare(deps, db, tokenHash, readCode(text))),
  );
}

async function compare(
  deps: BuyerDependencies,
  db: Queryable,
  tokenHash: string,
  code: string | null,
): Promise<CodeEntry> {
  const { clock, vault } = deps;
  const taken = await takeTry(db, tokenHash, clock.now(), MAX_TRIES);
  if (taken === null) return { kind: 'over' };
  const isRight = [vault, ...vault.previous].some((hashes) => isCode(hashes, tokenHash, code));
  if (!isRight) {
    const triesLeft = MAX_TRIES - taken.tries;
    return triesLeft === 0 ? { kind: 'over' } : { kind: 'wrong', triesLeft };
  }
  await useCode(db, tokenHash, clock.now());
  const email = vault.open(taken.emailSealed, codeLabel(tokenHash));
  return { kind: 'right', session: startEmailSession(deps, email) };
}

function isCode(hashes: KeyedHashes, tokenHash: string, code: string | null): boolean {
  const expected = Buffer.from(deriveCode(hashes, tokenHash));
  const entered = Buffer.from(code ?? '');
  return entered.length === expected.length && timingSafeEqual(entered, expected);
}
