import type { JwkSet, PublicJwk } from '@latchkey/contract';
import type { Logger } from 'pino';

import { foreignMasterSecret } from '#server/config/master-secret.ts';
import type { BackgroundTask } from '#server/jobs/background-task.ts';

import { listSigningKeys, type SigningKeyRecord } from './queries.ts';
import type { SigningKeyDependencies } from './rotate-signing-key.ts';
import {
  findCurrentKey,
  openSigningKeys,
  type OpenedSigningKey,
  type RejectedSigningKey,
  type SigningKey,
} from './signing-key.ts';

interface RingKey extends PublishedKey {
  readonly key: SigningKey;
  readonly activeFrom: Date;
  readonly createdAt: Date;
}

export interface KeyRingDependencies extends SigningKeyDependencies {
  readonly log: Logger;
}

/** The signing keys in memory, as last read from the database. */
export class SigningKeyRing {
  readonly #deps: KeyRingDependencies;
  #opened: readonly OpenedSigningKey[] = [];
  #keys: readonly RingKey[] = [];
  /** Logged problems, so that the next refresh does not log them again. */
  #logged = new Set<string>();

  constructor(deps: KeyRingDependencies) {
    this.#deps = deps;
  }

  /**
   * Reads the keys from the database. Must run at the start and every minute, because any process may rotate them. Rows
   * that the master secret does not authenticate are logged and not used. A key in memory stays in use after its row
   * was removed, and its retirement is never revoked: only an attacker with write access to the table would do either.
   * @throws StartupError when there are keys and none of them was sealed under a configured master secret
   */
  async refresh(): Promise<void> {
    const records = await listSigningKeys(this.#deps.pool);
    const unchanged = this.#opened.filter(({ record }) =>
      records.some((row) => isSame(row, record)),
    );
    const fresh = records.filter((row) => !unchanged.some(({ record }) => isSame(row, record)));
    const { opened, rejected } = openSigningKeys(this.#deps.vault, fresh);
    const isEmpty = unchanged.length + opened.length + this.#keys.length === 0;
    if (isEmpty && rejected.length > 0) {
      throw foreignMasterSecret(new Error('no signing key can be opened'));
    }
    this.#opened = [...unchanged, ...opened];
    const missing = this.#keys.filter(({ key }) => !this.#opened.some((each) => isKey(each, key)));
    this.#keys = [...missing, ...this.#opened.map((each) => this.#toRingKey(each))].sort(byAge);
    this.#report(rejected, missing);
  }

  /**
   * Returns the key that signs at a time.
   * @throws {Error} when no key was read
   */
  current(now: Date): SigningKey {
    const active = findCurrentKey(this.#keys, now);
    if (active === undefined) throw new Error('no signing key is active');
    return active.key;
  }

  /** Returns the lifetime of the key that signs at a time; null when no key was read. */
  currentLifetime(now: Date): Pick<RingKey, 'activeFrom' | 'retiredAt'> | null {
    return findCurrentKey(this.#keys, now) ?? null;
  }

  /** All keys, for the key set. */
  get published(): readonly PublishedKey[] {
    return this.#keys;
  }

  #toRingKey({ record, key }: OpenedSigningKey): RingKey {
    const known = this.#keys.find((each) => each.publicJwk.kid === record.kid);
    const { createdAt, activeFrom } = record;
    const retiredAt = earlier(known?.retiredAt ?? null, record.retiredAt);
    return { key, publicJwk: key.publicJwk, createdAt, activeFrom, retiredAt };
  }

  #report(rejected: readonly RejectedSigningKey[], missing: readonly RingKey[]): void {
    const problems = [
      ...rejected.map(({ kid, reason }) => ({ event: 'signing_key.rejected', kid, reason })),
      ...missing
        .filter(({ publicJwk }) => !rejected.some(({ kid }) => kid === publicJwk.kid))
        .map(({ publicJwk }) => ({ event: 'signing_key.missing', kid: publicJwk.kid })),
    ];
    for (const problem of problems) {
      if (this.#logged.has(JSON.stringify(problem))) continue;
      const message =
        problem.event === 'signing_key.missing'
          ? 'signing key was removed from the database; it stays in use until the restart'
          : 'rejected a row of signing_keys: the master secret does not authenticate it';
      this.#deps.log.error(problem, message);
    }
    this.#logged = new Set(problems.map((problem) => JSON.stringify(problem)));
  }
}

function isSame(one: SigningKeyRecord, other: SigningKeyRecord): boolean {
  return (
    one.kid === other.kid &&
    one.privateKeySealed.equals(other.privateKeySealed) &&
    one.createdAt.getTime() === other.createdAt.getTime() &&
    one.activeFrom.getTime() === other.activeFrom.getTime() &&
    one.retiredAt?.getTime() === other.retiredAt?.getTime()
  );
}

function isKey({ record }: OpenedSigningKey, { publicJwk }: SigningKey): boolean {
  return record.kid === publicJwk.kid;
}

function byAge(one: RingKey, other: RingKey): number {
  return (
    one.createdAt.getTime() - other.createdAt.getTime() ||
    one.activeFrom.getTime() - other.activeFrom.getTime()
  );
}

function earlier(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}

const DAY_MS = 86_400_000;

/** A process that has not read a rotation yet signs with the old key a little longer. */
const ROTATION_SLACK_DAYS = 1;

/** A signing key's public half, and when it retired. */
export interface PublishedKey {
  readonly publicJwk: PublicJwk;
  /** Null for the present key. */
  readonly retiredAt: Date | null;
}

/**
 * Returns the public keys that clients need now: the present one, and old ones until the last token that they signed
 * has expired.
 * @param maxOfflineDays the longest assumed life of a token: the longest present `offline_days` or `airgap_days`. A token that was
 *   signed while its product's were longer may outlive its key
 */
export function buildKeySet(
  keys: readonly PublishedKey[],
  maxOfflineDays: number,
  now: Date,
): JwkSet {
  const keptMs = (maxOfflineDays + ROTATION_SLACK_DAYS) * DAY_MS;
  const isNeeded = ({ retiredAt }: PublishedKey): boolean =>
    retiredAt === null || now.getTime() < retiredAt.getTime() + keptMs;
  return { keys: keys.filter(isNeeded).map(({ publicJwk }) => publicJwk) };
}

/** Another process may rotate the signing keys; a new key is published for longer than this before it signs. */
const REFRESH_INTERVAL_MS = 60_000;

/** Reads the signing keys again; while that fails, those in memory stay in use. */
export function createKeyRefreshTask({
  signingKeys,
}: {
  readonly signingKeys: Pick<SigningKeyRing, 'refresh'>;
}): BackgroundTask {
  return {
    name: 'signing_keys',
    scope: 'process',
    intervalMs: REFRESH_INTERVAL_MS,
    event: 'signing_keys.refresh',
    action: 'refresh the signing keys',
    run: () => signingKeys.refresh(),
  };
}
