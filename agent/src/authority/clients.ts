// Client certificates: creates, revokes and lists them.
import { createHash, X509Certificate } from 'node:crypto';
import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

import { type PreparedFile, prepareFile } from '../system/write-file.ts';
import {
  type Authority,
  formatDate,
  noAuthority,
  ownFiles,
  type SignedCertificate,
  withAuthority,
} from './authority.ts';
import { packBundle } from './bundle.ts';
import { type AuthorityContext, AuthorityError, readIfExists } from './context.ts';
import {
  type CertificateRecord,
  markIssued,
  findClient,
  isRevoked,
  readRegister,
  revoke,
} from './register.ts';

/** 32 characters that are hard to confuse: five bits each. */
const PASSWORD_CHARACTERS = 'abcdefghijkmnpqrstuvwxyz23456789';

/** 120 bits: PKCS#12 with 3DES allows fast guessing, so the password must have high entropy. */
const PASSWORD_LENGTH = 24;

interface ClientRequest {
  readonly name: string;
  readonly days: number;
  /** A file, or an existing directory. */
  readonly output: string;
}

export interface CreatedClient {
  readonly path: string;
  /** The digest of the file in hexadecimal. */
  readonly sha256: string;
  /** The password of the PKCS#12 file, which is not stored. */
  readonly password: string;
  readonly record: CertificateRecord;
  /** Certificates of the same name that this call revoked. */
  readonly replaced: readonly CertificateRecord[];
}

/**
 * Creates a certificate for a client, and revokes its earlier ones. The bundle is published last, so that every issued certificate
 * is in the register.
 * @throws AuthorityError when the bundle cannot be written, openssl fails, or there is no authority here
 */
export async function createClient(
  context: AuthorityContext,
  { name, days, output }: ClientRequest,
): Promise<CreatedClient> {
  const path = resolveOutput(output, name);
  return withAuthority(context, async (authority) => {
    const password = generatePassword(context.randomBytes);
    const signed = await authority.sign({ name, days, purpose: 'client' });
    const bundle = await packFiles(authority, signed, password);
    const { record } = signed;
    using prepared = prepareBundle(path, bundle);
    const replaced = findClient(authority.register, name).filter((each) => !isRevoked(each));
    const now = context.clock.now();
    await authority.commit(markIssued(authority.register, record.serial, replaced, now));
    prepared.place();
    const sha256 = createHash('sha256').update(bundle).digest('hex');
    return { path, sha256, password, record, replaced };
  });
}

async function packFiles(
  authority: Authority,
  signed: SignedCertificate,
  password: string,
): Promise<Buffer> {
  const pkcs12 = await authority.createPkcs12(signed, password);
  const { register, certificate } = authority;
  return packBundle({ signed, authority: certificate.toString(), pkcs12, register });
}

function prepareBundle(path: string, bundle: Buffer): PreparedFile {
  try {
    return prepareFile(path, bundle, { mode: 0o600 });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new AuthorityError(`${path} cannot be written: ${why}`, { cause: error });
  }
}

function generatePassword(randomBytes: AuthorityContext['randomBytes']): string {
  const characters = [...randomBytes(PASSWORD_LENGTH)].map((byte) =>
    PASSWORD_CHARACTERS.charAt(byte & 31),
  );
  return (characters.join('').match(/.{6}/gu) ?? []).join('-');
}

function resolveOutput(output: string, name: string): string {
  const path = resolve(output);
  if (isDirectory(path)) return join(path, `${name}.tar.gz`);
  if (isDirectory(dirname(path))) return path;
  throw new AuthorityError(`There is no directory ${dirname(path)} to write to.`);
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * Revokes every certificate of a client.
 * @returns the certificates that this call revoked
 * @throws AuthorityError when the name is not known, or nothing is left to revoke
 */
export async function revokeClient(
  context: AuthorityContext,
  name: string,
): Promise<readonly CertificateRecord[]> {
  return withAuthority(context, async (authority) => {
    const all = findClient(authority.register, name);
    const open = all.filter((each) => !isRevoked(each));
    if (open.length === 0) throw explainNothing(name, all);
    await authority.commit(revoke(authority.register, open, context.clock.now()));
    return open;
  });
}

function explainNothing(name: string, all: readonly CertificateRecord[]): AuthorityError {
  const revokedAt = all.at(-1)?.revokedAt;
  return new AuthorityError(
    revokedAt == null
      ? `There is no certificate for ${name}: "latchkey-agent client-cert list" shows the names.`
      : `The certificate of ${name} was revoked on ${formatDate(revokedAt)}.`,
  );
}

const DAY_MS = 86_400_000;

/** Users need time to install a new certificate. */
const WARNED_DAYS = 30;

/** After the authority expires, every client needs a new certificate. */
const AUTHORITY_WARNED_DAYS = 365;

type ClientStatus = 'valid' | 'expired' | 'revoked';

export interface ListedCertificate {
  readonly record: CertificateRecord;
  readonly status: ClientStatus;
}

/**
 * Lists the issued certificates by name, oldest first, without the lock, with warnings about those that expire soon.
 * @throws AuthorityError when there is no authority, or no permission
 */
export function listCertificates({ paths, clock }: AuthorityContext): {
  readonly certificates: readonly ListedCertificate[];
  readonly warnings: readonly string[];
} {
  const register = readRegister(paths);
  if (register === null) throw noAuthority();
  const now = clock.now();
  const certificates = register.certificates
    .filter(({ isPending }) => !isPending)
    .sort((a, b) => compare(a.name, b.name) || a.issuedAt.getTime() - b.issuedAt.getTime())
    .map((record) => ({ record, status: findStatus(record, now) }));
  const pem = readIfExists(ownFiles(paths).certificateFile);
  const warnings = certificates.flatMap((each) => warnOfClient(each, now));
  return { certificates, warnings: [...warnOfAuthority(pem, now), ...warnings] };
}

function findStatus({ revokedAt, expiresAt }: CertificateRecord, now: Date): ClientStatus {
  if (revokedAt !== null) return 'revoked';
  return expiresAt <= now ? 'expired' : 'valid';
}

function warnOfClient({ record, status }: ListedCertificate, now: Date): string[] {
  const days = countDays(record.expiresAt, now);
  if (status !== 'valid' || days > WARNED_DAYS) return [];
  const fix =
    record.purpose === 'proxy'
      ? 'the timer latchkey-agent-revocations should renew it: check its log'
      : `"latchkey-agent client-cert create ${record.name}" creates a new one`;
  return [`${record.name} expires in ${days} days: ${fix}.`];
}

function warnOfAuthority(pem: string | null, now: Date): string[] {
  const days = pem === null ? Infinity : countDays(new X509Certificate(pem).validToDate, now);
  if (days > AUTHORITY_WARNED_DAYS) return [];
  return [`The authority itself expires in ${days} days, and every certificate with it.`];
}

function countDays(until: Date, now: Date): number {
  return Math.floor((until.getTime() - now.getTime()) / DAY_MS);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
