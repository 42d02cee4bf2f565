import { describeError } from './answers/causes.ts';
import { readClock } from './clock/clock.ts';
import type { Service } from './calls/service.ts';
import { formatKept, mergeKept, NOTHING_KEPT, parseKept, type Kept } from './kept/kept.ts';
import type { Store } from './kept/store.ts';
import type { Fingerprint } from './machine/fingerprint.ts';
import type { ReportProblem } from './problem.ts';
import { deriveState, type LicenseState } from './state/state.ts';
import type { Claims } from './tokens/claims.ts';
import type { Cryptography } from './tokens/cryptography.ts';
import { joinKeys, type PublicKey } from './tokens/public-keys.ts';
import { readToken, type TokenReading } from './tokens/verify.ts';

/** The outside of a session. */
export interface SessionParts {
  readonly service: Service;
  readonly store: Store;
  readonly cryptography: Cryptography;
  readonly now: () => number;
  readonly report: ReportProblem;
  readonly issuer: string;
  readonly products: readonly string[];
  readonly publicKeys: readonly PublicKey[];
  /** Whether keys that the service sends are trusted. */
  readonly canFetchKeys: boolean;
  readonly versions: { readonly app_version: string; readonly os_version?: string };
}

/** What a client knows while it is open: what is kept, and the claims of its entitlement. */
export class Session {
  readonly parts: SessionParts;
  /** The key that was last refused because no machine is free; the program shows its machines. */
  refusedKey: string | null = null;
  /** Why the last request was not answered, for support; null: it was, or there was none. */
  lastFailure: string | null = null;
  #kept: Kept = NOTHING_KEPT;
  /** What was changed since opening while the kept state could not be read; null: it was read. */
  #unread: Partial<Kept> | null = {};
  #claims: Claims | null = null;
  #isAnswered = false;

  constructor(parts: SessionParts) {
    this.parts = parts;
  }

  get kept(): Kept {
    return this.#kept;
  }

  get state(): LicenseState {
    const { key, entitlement, refused, clock, lastAnswerAt } = this.#kept;
    return deriveState({
      isActivated: key !== null || entitlement !== null,
      claims: this.#claims,
      refusal: refused?.reason ?? null,
      clock,
      deviceMs: this.parts.now(),
      isAnswered: this.#isAnswered,
      lastAnswerAt,
    });
  }

  /** The present time, corrected by that of the service. */
  get nowMs(): number {
    return readClock(this.#kept.clock, this.parts.now()).nowMs;
  }

  get machine(): Fingerprint {
    return this.#kept.machine ?? { machine_id: '' };
  }

  /** Reads what is kept unless it was read before, and verifies its entitlement. What was changed since opening is newer. */
  async load(): Promise<void> {
    const changes = this.#unread;
    if (changes === null) return;
    const text = await this.#try('folder_unreadable', 'could not read it', () =>
      this.parts.store.read(),
    );
    if (text === undefined) return;
    this.#unread = null;
    if (text === null) return;
    const kept = parseKept(text);
    if (kept !== null) return this.#adopt(mergeKept(kept, changes));
    this.parts.report({
      code: 'file_damaged',
      message: 'the kept state is damaged and was renamed',
    });
    await this.#try('folder_unwritable', 'could not rename it', () => this.parts.store.setAside());
  }

  /** Changes what is kept, and writes it, but never over a license that could not be read. */
  async change(changes: Partial<Kept>): Promise<void> {
    await this.#adopt({ ...this.#kept, ...changes });
    this.#unread &&= { ...this.#unread, ...changes };
    await this.load();
    await this.#try('folder_unwritable', 'could not write it', () => {
      if (this.#unread !== null) throw new Error('it was not read');
      return this.parts.store.write(formatKept(this.#kept));
    });
  }

  /** Notes whether the service answered. */
  noteAnswer(isAnswered: boolean, detail: string | null = null): void {
    this.#isAnswered = isAnswered;
    this.lastFailure = detail;
  }

  /** Verifies an entitlement of this machine, apart from its times. @param keys beside those that are compiled in */
  async verify(
    token: string,
    keys: readonly PublicKey[],
    machineId: string = this.machine.machine_id,
  ): Promise<TokenReading> {
    const { publicKeys, issuer, products, cryptography } = this.parts;
    const trust = { keys: joinKeys(publicKeys, keys), issuer, products, machineId };
    const reading = await this.#try('cryptography', 'could not verify', () =>
      readToken(token, trust, cryptography),
    );
    return reading ?? { verdict: 'signature' };
  }

  async #adopt(kept: Kept): Promise<void> {
    const { entitlement, machine, keys } = this.#kept;
    const isVerified =
      kept.entitlement === entitlement && kept.machine === machine && kept.keys === keys;
    const claims = isVerified ? this.#claims : await this.#readClaims(kept);
    // Both at once, so that no state is derived from the old one and the new one.
    this.#kept = kept;
    this.#claims = claims;
  }

  async #readClaims({ entitlement, keys, machine }: Kept): Promise<Claims | null> {
    if (entitlement === null || machine === null) return null;
    const reading = await this.verify(entitlement, keys, machine.machine_id);
    return reading.verdict === 'ok' ? reading.claims : null;
  }

  async #try<Outcome>(
    code: string,
    message: string,
    work: () => Outcome | Promise<Outcome>,
  ): Promise<Outcome | undefined> {
    try {
      return await work();
    } catch (error) {
      this.parts.report({ code, message: `${message}: ${describeError(error)}` });
      return undefined;
    }
  }
}
