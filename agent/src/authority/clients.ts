import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

import { type PreparedFile, prepareFile } from '../system/write-file.ts';
import { type Authority, formatDate, withAuthority } from './authority.ts';
import { packBundle } from './bundle.ts';
import { type AuthorityContext, AuthorityError } from './context.ts';
import { type CertificateRecord, confirm, findClient, isRevoked, revoke } from './register.ts';

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
  /** Of the file, in hexadecimal digits. */
  readonly sha256: string;
  /** The password of the PKCS#12 file, which is not stored. */
  readonly password: string;
  readonly record: CertificateRecord;
  /** Certificates of the same name that are revoked now. */
  readonly replaced: readonly CertificateRecord[];
}

/**
 * Creates a certificate for a client, and revokes its earlier ones. The bundle is placed last, so that nothing is issued that the
 * register lacks.
 * @throws AuthorityError when the bundle cannot be written, openssl fails, or there is no authority here
 */
export async function createClient(
  context: AuthorityContext,
  { name, days, output }: ClientRequest,
): Promise<CreatedClient> {
  const path = findPath(output, name);
  return withAuthority(context, async (authority) => {
    const { password, bundle, record } = await createBundle(context, authority, { name, days });
    using prepared = prepareBundle(path, bundle);
    const replaced = findClient(authority.register, name).filter((each) => !isRevoked(each));
    const now = context.clock.now();
    await authority.commit(confirm(authority.register, record.serial, replaced, now));
    prepared.place();
    const sha256 = createHash('sha256').update(bundle).digest('hex');
    return { path, sha256, password, record, replaced };
  });
}

async function createBundle(
  { randomBytes }: AuthorityContext,
  authority: Authority,
  wish: Pick<ClientRequest, 'name' | 'days'>,
) {
  const password = generatePassword(randomBytes);
  const signed = await authority.sign({ ...wish, purpose: 'client' });
  const pkcs12 = await authority.makePkcs12(signed, password);
  const { register, certificate } = authority;
  const bundle = packBundle({ signed, authority: certificate.toString(), pkcs12, register });
  return { password, bundle, record: signed.record };
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

function findPath(output: string, name: string): string {
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
 * @returns those that were revoked now
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
  if (revokedAt == null) {
    const where = '"latchkey-agent client-cert list" shows the names';
    return new AuthorityError(`There is no certificate for ${name}: ${where}.`);
  }
  const day = formatDate(revokedAt);
  return new AuthorityError(`The certificate of ${name} was revoked on ${day}.`);
}
