import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { dirname, join } from 'node:path';

import {
  type AuthorityContext,
  AuthorityError,
  type AuthorityPaths,
  readIfExists,
} from './context.ts';
import { Openssl, type OwnFiles } from './openssl.ts';
import { LockError, withFileLock } from '../system/file-lock.ts';
import { prepareFile, writeFile } from '../system/write-file.ts';
import { formatRegister, readRegister, registerPath } from './register.ts';
import * as rules from './register.ts';

const DAY_MS = 86_400_000;

const LOCK_WAIT_SECONDS = 60;

/** Every command renews a list that expires within this time, in case the timer failed. */
const LIST_RENEWAL_MARGIN_MS = 60 * DAY_MS;

/** A certificate with its private key, as PEM. */
export interface SignedCertificate {
  readonly record: rules.CertificateRecord;
  readonly certificate: string;
  readonly key: string;
}

/** A request for a new certificate. */
interface CertificateRequest {
  readonly name: string;
  readonly purpose: rules.CertificateRecord['purpose'];
  readonly days: number;
  /** An existing private key; default: a new one. */
  readonly key?: string;
}

/** Returns the private files in the authority's directory. */
export function ownFiles({ authority }: AuthorityPaths): OwnFiles {
  return { keyFile: join(authority, 'ca.key'), certificateFile: join(authority, 'ca.pem') };
}

/**
 * Runs `use` with the authority locked, after repairing what an interrupted command left.
 * @throws AuthorityError when there is no authority, or no permission
 */
export async function withAuthority<T>(
  context: AuthorityContext,
  use: (authority: Authority) => Promise<T>,
): Promise<T> {
  // Without a directory there is no lock file.
  if (readRegister(context.paths) === null) throw noAuthority();
  return withLock(context.paths, async () => {
    using authority = openAuthority(context);
    await authority.repair();
    return await use(authority);
  });
}

/**
 * Runs `work` while no other command uses the authority.
 * @throws AuthorityError when another command uses it for longer than a minute
 */
export async function withLock<T>(
  { authority }: AuthorityPaths,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await withFileLock(join(authority, 'lock'), work, LOCK_WAIT_SECONDS);
  } catch (error) {
    if (!(error instanceof LockError)) throw error;
    const inUse = `Another command has been using the authority for ${LOCK_WAIT_SECONDS} seconds: try again later.`;
    throw new AuthorityError(error.isHeld ? inUse : error.message, { cause: error });
  }
}

/** Opens the authority; the caller holds the lock. */
export function openAuthority(context: AuthorityContext): Authority {
  const register = readRegister(context.paths);
  if (register === null) throw noAuthority();
  return new Authority(context, register);
}

export function noAuthority(): AuthorityError {
  return new AuthorityError(
    'This machine has no authority yet: "latchkey-agent install" with LATCHKEY_MTLS=yes creates one.',
  );
}

/** Generates a private key on a curve that all browsers and servers support. */
export function generateKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Generates a positive serial number of 128 bits with a leading one, so that its length is fixed. */
export function generateSerial({ randomBytes }: Pick<AuthorityContext, 'randomBytes'>): string {
  const [first = 0, ...others] = randomBytes(16);
  return Buffer.from([(first & 0x3f) | 0x40, ...others])
    .toString('hex')
    .toUpperCase();
}

/** The locked authority. */
export class Authority implements Disposable {
  readonly certificate: X509Certificate;
  readonly #context: AuthorityContext;
  readonly #openssl: Openssl;
  #register: rules.Register;

  constructor(context: AuthorityContext, register: rules.Register) {
    this.#context = context;
    this.#register = register;
    this.certificate = new X509Certificate(readOwn(ownFiles(context.paths).certificateFile));
    readOwn(ownFiles(context.paths).keyFile);
    this.#openssl = new Openssl(context.runProgram, join(context.paths.authority, 'work'));
  }

  [Symbol.dispose](): void {
    this.#openssl[Symbol.dispose]();
  }

  get register(): rules.Register {
    return this.#register;
  }

  /** Whether no repair is needed. */
  async isConsistent(): Promise<boolean> {
    return this.#isPublished() && (await this.#planRepair()) === null;
  }

  /**
   * Repairs the state after a killed command: revokes certificates that may have been issued, and publishes the state of the
   * register.
   * @returns whether anything was written
   */
  async repair(): Promise<boolean> {
    const wasPublished = this.#isPublished();
    if (!wasPublished) {
      const { authorityCertificate } = this.#context.paths;
      writeFile(authorityCertificate, this.certificate.toString(), { mode: 0o644 });
    }
    const repaired = await this.#planRepair();
    if (repaired !== null) await this.commit(repaired);
    return !wasPublished || repaired !== null;
  }

  /**
   * Signs a certificate, which is in the register before it exists. It may be issued once `rules.confirm` is committed.
   */
  async sign({
    name,
    purpose,
    days,
    key = generateKey(),
  }: CertificateRequest): Promise<SignedCertificate> {
    const { paths, clock } = this.#context;
    const issuedAt = clock.now();
    const expiresAt = this.#endWithin(issuedAt, days);
    const serial = generateSerial(this.#context);
    const record = { serial, name, purpose, issuedAt, expiresAt, revokedAt: null, isPending: true };
    this.save(rules.addPending(this.#register, record));
    const request = { subject: `/CN=${name}`, key, serial, issuedAt, expiresAt };
    const certificate = await this.#openssl.sign(request, ownFiles(paths));
    return { record, certificate, key };
  }

  async createPkcs12(signed: SignedCertificate, password: string): Promise<Buffer> {
    return this.#openssl.createPkcs12(signed.certificate, signed.key, signed.record.name, password);
  }

  /**
   * Commits a new state, with a new revocation list when it changed. Steps that may fail precede the replacement of the register;
   * the next repair creates a missing list.
   */
  async commit(register: rules.Register): Promise<void> {
    const { paths, clock } = this.#context;
    if (register.revocationsNumber === this.#register.revocationsNumber) return this.save(register);
    const list = await this.#openssl.listRevoked(register, ownFiles(paths), clock.now());
    using prepared = prepareFile(paths.revocations, list, { mode: 0o644 });
    this.save(register);
    prepared.place();
  }

  /** Writes the register without a new revocation list. */
  save(register: rules.Register): void {
    writeFile(registerPath(this.#context.paths), formatRegister(register), { mode: 0o600 });
    this.#register = register;
  }

  #isPublished(): boolean {
    const { authorityCertificate } = this.#context.paths;
    return readIfExists(authorityCertificate) === this.certificate.toString();
  }

  /** @returns null when register and list are consistent */
  async #planRepair(): Promise<rules.Register | null> {
    const { paths, clock } = this.#context;
    const pending = this.#register.certificates.filter(({ isPending }) => isPending);
    const repaired = rules.revoke(this.#register, pending, clock.now());
    const { certificateFile } = ownFiles(paths);
    const list = await this.#openssl.readList(paths.revocations, certificateFile);
    const until = new Date(clock.now().getTime() + LIST_RENEWAL_MARGIN_MS);
    const isCurrent = list !== null && list.nextUpdate > until;
    if (isCurrent && list.number === repaired.revocationsNumber) return null;
    return { ...rules.incrementListNumber(repaired, list?.number), nginxReloadedAt: null };
  }

  /** Returns the expiry of a certificate, at latest that of the authority's own. */
  #endWithin(from: Date, days: number): Date {
    const last = this.certificate.validToDate;
    if (last <= from) {
      throw new AuthorityError(
        `The authority itself expired on ${formatDate(last)}: move ${dirname(ownFiles(this.#context.paths).keyFile)} away, run "latchkey-agent install" again, and create new certificates.`,
      );
    }
    const requested = Math.floor(from.getTime() / 1000) * 1000 + days * DAY_MS;
    return new Date(Math.min(requested, last.getTime()));
  }
}

/** Formats a date as YYYY-MM-DD. */
export function formatDate(time: Date): string {
  return time.toISOString().slice(0, 10);
}

function readOwn(path: string): string {
  const text = readIfExists(path);
  if (text !== null) return text;
  throw new AuthorityError(
    `${path} is missing: restore it from a backup, or remove ${dirname(path)} and run "latchkey-agent install" to create a new authority.`,
  );
}
