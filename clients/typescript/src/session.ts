import { describeError } from './answers/causes.ts';
import { readClock } from './clock/clock.ts';
import type { Service } from './calls/service.ts';
import { formatKept, isActivated, NOTHING_KEPT, parseKept, type Kept } from './kept/kept.ts';
import type { Store } from './kept/store.ts';
import { loadRareCalls } from './load-rare-calls.ts';
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
  /** Whether there may be a kept state that could not be read yet. */
  isUnread = true;
  /** Is called once it was read. */
  onRead: (() => void) | null = null;
  /** Whether this run activated a license, apart from a trial, or removed it again, before the kept state could be read. */
  #hasOwnLicense = false;
  #claims: Claims | null = null;
  #isAnswered = false;

  constructor(parts: SessionParts) {
    this.parts = parts;
  }

  get kept(): Kept {
    return this.#kept;
  }

  get state(): LicenseState {
    const { refused, clock, lastAnswerAt } = this.#kept;
    return deriveState({
      isActivated: isActivated(this.#kept),
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

  /** Reads what is kept unless it was read before, and joins what this run changed until then. */
  async load(): Promise<void> {
    if (!this.isUnread) return;
    const text = await this.attempt('folder_unreadable', () => this.parts.store.read());
    if (text === undefined) return;
    const file = text === null ? NOTHING_KEPT : parseKept(text);
    if (file !== null && this.#kept === NOTHING_KEPT) return this.#keep(file);
    const calls = await loadRareCalls();
    if (calls === null) return;
    await this.#keep(await calls.joinFile(this, file, this.#hasOwnLicense));
    await this.#write();
  }

  /** Changes what is kept, and writes it, but never over a license that could not be read. */
  async change(changes: Partial<Kept>): Promise<void> {
    await this.#adopt({ ...this.#kept, ...changes });
    if (this.isUnread) {
      this.#hasOwnLicense ||= isActivated(this.#kept) && !this.#claims?.trial;
      await this.load();
      if (!this.isUnread) return;
    }
    await this.#write();
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
    const reading = await this.attempt('cryptography', () => readToken(token, trust, cryptography));
    return reading ?? { verdict: 'signature' };
  }

  /** Runs work of a part that the program passed, and reports if it fails. @returns undefined then */
  async attempt<Outcome>(
    code: string,
    work: () => Outcome | Promise<Outcome>,
  ): Promise<Outcome | undefined> {
    try {
      return await work();
    } catch (error) {
      this.parts.report({ code, message: describeError(error) });
      return undefined;
    }
  }

  async #keep(read: Kept): Promise<void> {
    await this.#adopt(read);
    // Afterwards, so that no event is sent with what the run alone knows.
    this.isUnread = false;
    this.onRead?.();
  }

  async #write(): Promise<void> {
    await this.attempt('folder_unwritable', () => {
      if (this.isUnread) throw new Error('the kept state could not be read');
      return this.parts.store.write(formatKept(this.#kept));
    });
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
}
