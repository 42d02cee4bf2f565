import { createPublicKey } from 'node:crypto';

import { foreignMasterSecret } from '#server/config/master-secret.ts';

import type { PublishedKey } from './build-key-set.ts';
import { findCurrentKey } from './current-key.ts';
import { listSigningKeys, type SigningKeyRecord } from './queries.ts';
import { signingKeyLabel, type SigningKeyContext } from './rotate-signing-key.ts';
import { importSigningKey, toPublicJwk, type SigningKey } from './signing-key.ts';

interface RingKey extends PublishedKey {
  readonly key: SigningKey;
  readonly activeFrom: Date;
}

/** The signing keys in memory, as the database last showed them. */
export class SigningKeyRing {
  readonly #ctx: SigningKeyContext;
  #keys: readonly RingKey[] = [];

  constructor(ctx: SigningKeyContext) {
    this.#ctx = ctx;
  }

  /**
   * Reads the keys from the database; to be called at the start and every minute, since any process may rotate them.
   * @throws StartupError when they were sealed under another master secret
   */
  async refresh(): Promise<void> {
    const records = await listSigningKeys(this.#ctx.pool);
    this.#keys = records.map((record, index) => this.#open(record, records[index + 1]));
  }

  /**
   * The key that signs at a moment.
   * @throws {Error} when no key was read
   */
  current(now: Date): SigningKey {
    const active = findCurrentKey(this.#keys, now);
    if (active === undefined) throw new Error('there is no signing key');
    return active.key;
  }

  /** Every key, for the key set. */
  get published(): readonly PublishedKey[] {
    return this.#keys;
  }

  /** A key that is known already is not opened again. */
  #open(record: SigningKeyRecord, next: SigningKeyRecord | undefined): RingKey {
    const retiredAt = next?.activeFrom ?? null;
    const known = this.#keys.find((entry) => entry.publicJwk.kid === record.kid);
    if (known) return { ...known, retiredAt };
    const exported = this.#unseal(record);
    const publicKey = createPublicKey({ key: record.publicKey, format: 'der', type: 'spki' });
    return {
      key: importSigningKey(exported),
      publicJwk: toPublicJwk(publicKey),
      activeFrom: record.activeFrom,
      retiredAt,
    };
  }

  #unseal({ kid, privateKeySealed }: SigningKeyRecord): string {
    try {
      return this.#ctx.vault.open(privateKeySealed, signingKeyLabel(kid));
    } catch (error) {
      throw foreignMasterSecret(error);
    }
  }
}
