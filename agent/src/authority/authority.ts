import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import {
  type AuthorityContext,
  AuthorityError,
  type AuthorityPlaces,
  codeOf,
  explainFileError,
} from './context.ts';
import { Openssl, type OwnFiles } from './openssl.ts';
import { LockError, withFileLock } from '../system/file-lock.ts';
import { prepareFile, writeFile } from '../system/write-file.ts';
import { formatRegister, readRegister, registerPath } from './register.ts';
import * as rules from './register.ts';

const DAY_MS = 86_400_000;

const LOCK_WAIT_SECONDS = 60;

/** A list is made anew by any command when it is good for less than this, should the timer have failed. */
const LIST_RENEWED_MS = 60 * DAY_MS;

/** A certificate with its private key, as PEM. */
export interface SignedCertificate {
  readonly record: rules.CertificateRecord;
  readonly certificate: string;
  readonly key: string;
}

/** What is asked of a new certificate. */
interface CertificateWish {
  readonly name: string;
  readonly purpose: rules.CertificateRecord['purpose'];
  readonly days: number;
  /** A private key to keep; a new one when left out. */
  readonly key?: string;
}

/** Files that are for root only, in the authority's directory. */
export function ownFiles({ authority }: AuthorityPlaces): OwnFiles {
  return { keyFile: join(authority, 'ca.key'), certificateFile: join(authority, 'ca.pem') };
}

/**
 * Uses the authority alone, after putting right what a command before left undone.
 * @throws AuthorityError when there is none here, or not for us
 */
export async function withAuthority<T>(
  context: AuthorityContext,
  use: (authority: Authority) => Promise<T>,
): Promise<T> {
  try {
    // Without a directory there is nothing to lock.
    if (readRegister(context.places) === null) throw noAuthority();
    return await whileAlone(context.places, async () => {
      using authority = openAuthority(context);
      await authority.repair();
      return await use(authority);
    });
  } catch (error) {
    throw explainFileError(error);
  }
}

/**
 * Runs `use` while no other command uses the authority.
 * @throws AuthorityError when another command uses it for longer than a minute
 */
export async function whileAlone<T>(
  { authority }: AuthorityPlaces,
  use: () => Promise<T>,
): Promise<T> {
  try {
    return await withFileLock(join(authority, 'lock'), use, LOCK_WAIT_SECONDS);
  } catch (error) {
    if (!(error instanceof LockError)) throw error;
    const inUse = `Another command has been using the authority for ${LOCK_WAIT_SECONDS} seconds: try again later.`;
    throw new AuthorityError(error.isHeld ? inUse : error.message, { cause: error });
  }
}

/** Opens the authority; the caller has the lock. */
export function openAuthority(context: AuthorityContext): Authority {
  const register = readRegister(context.places);
  if (register === null) throw noAuthority();
  return new Authority(context, register);
}

export function noAuthority(): AuthorityError {
  return new AuthorityError(
    'This machine has no authority yet: "latchkey-agent install" with LATCHKEY_MTLS=yes makes one.',
  );
}

/** A new private key: every browser and server takes this curve. */
export function makeKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** A serial number of 128 bits that begins with a one, so that it is positive and as long as it should be. */
export function makeSerial({ randomBytes }: Pick<AuthorityContext, 'randomBytes'>): string {
  const [first = 0, ...others] = randomBytes(16);
  return Buffer.from([(first & 0x3f) | 0x40, ...others])
    .toString('hex')
    .toUpperCase();
}

/** The authority, while this process alone uses it. */
export class Authority implements Disposable {
  readonly certificate: X509Certificate;
  readonly #context: AuthorityContext;
  readonly #openssl: Openssl;
  #register: rules.Register;

  constructor(context: AuthorityContext, register: rules.Register) {
    this.#context = context;
    this.#register = register;
    this.certificate = new X509Certificate(readOwn(ownFiles(context.places).certificateFile));
    readOwn(ownFiles(context.places).keyFile);
    this.#openssl = new Openssl(context.runProgram, join(context.places.authority, 'work'));
  }

  [Symbol.dispose](): void {
    this.#openssl[Symbol.dispose]();
  }

  get register(): rules.Register {
    return this.#register;
  }

  /** Whether nothing is to be put right. */
  async isSound(): Promise<boolean> {
    return this.#isPublished() && (await this.#planRepair()) === null;
  }

  /**
   * Puts right what a killed command left: certificates that were signed and perhaps handed out are revoked, and what the
   * agent reads is made to be what the register says.
   * @returns whether anything was written
   */
  async repair(): Promise<boolean> {
    const wasPublished = this.#isPublished();
    if (!wasPublished) {
      const { authorityCertificate } = this.#context.places;
      writeFile(authorityCertificate, this.certificate.toString(), { mode: 0o644 });
    }
    const repaired = await this.#planRepair();
    if (repaired !== null) await this.commit(repaired);
    return !wasPublished || repaired !== null;
  }

  /**
   * Signs a certificate, which is in the register before it exists. It may be handed out once `rules.confirm` was committed.
   */
  async sign({
    name,
    purpose,
    days,
    key = makeKey(),
  }: CertificateWish): Promise<SignedCertificate> {
    const { places, clock } = this.#context;
    const issuedAt = clock.now();
    const expiresAt = this.#endWithin(issuedAt, days);
    const serial = makeSerial(this.#context);
    const record = { serial, name, purpose, issuedAt, expiresAt, revokedAt: null, isPending: true };
    this.save(rules.addPending(this.#register, record));
    const wish = { subject: `/CN=${name}`, key, serial, issuedAt, expiresAt };
    const certificate = await this.#openssl.sign(wish, ownFiles(places));
    return { record, certificate, key };
  }

  async makePkcs12(signed: SignedCertificate, password: string): Promise<Buffer> {
    return this.#openssl.makePkcs12(signed.certificate, signed.key, signed.record.name, password);
  }

  /**
   * Makes a new state hold: with the list of revoked certificates when that changed. What may fail is done before the register
   * is put into place, and a list that is then missing is made by the next repair.
   */
  async commit(register: rules.Register): Promise<void> {
    const { places, clock } = this.#context;
    if (register.revocationsNumber === this.#register.revocationsNumber) return this.save(register);
    const list = await this.#openssl.listRevoked(register, ownFiles(places), clock.now());
    using prepared = prepareFile(places.revocations, list, { mode: 0o644 });
    this.save(register);
    prepared.place();
  }

  /** Writes the register down, whose list of revoked certificates is the same. */
  save(register: rules.Register): void {
    writeFile(registerPath(this.#context.places), formatRegister(register), { mode: 0o600 });
    this.#register = register;
  }

  #isPublished(): boolean {
    const { authorityCertificate } = this.#context.places;
    return readIfThere(authorityCertificate) === this.certificate.toString();
  }

  /** @returns null when register and list are as they should be */
  async #planRepair(): Promise<rules.Register | null> {
    const { places, clock } = this.#context;
    const pending = this.#register.certificates.filter(({ isPending }) => isPending);
    const repaired = rules.revoke(this.#register, pending, clock.now());
    const { certificateFile } = ownFiles(places);
    const list = await this.#openssl.readList(places.revocations, certificateFile);
    const until = new Date(clock.now().getTime() + LIST_RENEWED_MS);
    const isGood = list !== null && list.nextUpdate > until;
    if (isGood && list.number === repaired.revocationsNumber) return null;
    return { ...rules.numberAnew(repaired, list?.number), proxyToldAt: null };
  }

  /** No certificate outlives that of the authority. */
  #endWithin(from: Date, days: number): Date {
    const last = this.certificate.validToDate;
    if (last <= from) {
      throw new AuthorityError(
        `The authority itself expired on ${formatDate(last)}: move ${dirname(ownFiles(this.#context.places).keyFile)} away, run "latchkey-agent install" again, and make new certificates.`,
      );
    }
    const wished = Math.floor(from.getTime() / 1000) * 1000 + days * DAY_MS;
    return new Date(Math.min(wished, last.getTime()));
  }
}

/** A day as people write it down. */
export function formatDate(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** @returns null when there is no such file */
export function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

function readOwn(path: string): string {
  const text = readIfThere(path);
  if (text !== null) return text;
  throw new AuthorityError(
    `${path} is missing: put it back from a backup, or remove ${dirname(path)} and run "latchkey-agent install" to begin with a new authority.`,
  );
}
