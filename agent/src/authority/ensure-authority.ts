import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

import { generateKey, generateSerial, openAuthority, ownFiles, withLock } from './authority.ts';
import {
  accessFiles,
  type AuthorityContext,
  AuthorityError,
  type AuthorityPaths,
} from './context.ts';
import { ensureProxyCertificate, isProxyCertificateValid } from './renewal.ts';
import { Openssl } from './openssl.ts';
import { writeFile } from '../system/write-file.ts';
import { formatRegister, readRegister, type Register, registerPath } from './register.ts';

/** Ten years with their leap days. */
const VALID_MS = 3_652 * 86_400_000;

/** The maximum length of a name attribute in a certificate (RFC 5280, appendix A). */
const MAX_NAME_LENGTH = 64;

/** The authority that an installation needs. */
export interface AuthorityRequest {
  readonly domain: string;
  /** The address for bundles; default: the previous one. */
  readonly address?: string;
  readonly withProxyCertificate: boolean;
}

/**
 * Creates the authority for client certificates, or repairs its files. A consistent authority is not touched.
 * @returns whether anything was written
 * @throws AuthorityError when openssl is missing, or the authority's key is
 */
export async function ensureAuthority(
  context: AuthorityContext,
  request: AuthorityRequest,
): Promise<boolean> {
  accessFiles(() => createDirectories(context));
  return withLock(context.paths, () => ensureAll(context, request));
}

/**
 * Whether `ensureAuthority` would write nothing.
 * @throws AuthorityError when openssl is missing, or the authority's key is
 */
export async function isAuthorityReady(
  context: AuthorityContext,
  request: AuthorityRequest,
): Promise<boolean> {
  const { paths } = context;
  if (readRegister(paths) === null || !isPrivate(paths)) return false;
  return withLock(paths, async () => {
    using authority = openAuthority(context);
    const isNamed = rename(authority.register, request) === authority.register;
    const isProxyValid =
      !request.withProxyCertificate || isProxyCertificateValid(context, authority);
    return isNamed && isProxyValid && (await authority.isConsistent());
  });
}

async function ensureAll(context: AuthorityContext, request: AuthorityRequest): Promise<boolean> {
  const isNew = readRegister(context.paths) === null;
  if (isNew) await createAuthority(context, request);
  using authority = openAuthority(context);
  const repaired = await authority.repair();
  const renamed = rename(authority.register, request);
  const isRenamed = renamed !== authority.register;
  if (isRenamed) authority.save(renamed);
  const signed = request.withProxyCertificate && (await ensureProxyCertificate(context, authority));
  return isNew || repaired || isRenamed || signed;
}

function createDirectories({ paths }: AuthorityContext): void {
  const published = dirname(paths.revocations);
  const isNew = mkdirSync(published, { recursive: true }) !== undefined;
  // Readable for the agent, whatever the umask.
  if (isNew) chmodSync(published, 0o755);
  mkdirSync(paths.authority, { recursive: true, mode: 0o700 });
  if (!isPrivate(paths)) chmodSync(paths.authority, 0o700);
}

function isPrivate({ authority }: AuthorityPaths): boolean {
  return (statSync(authority).mode & 0o777) === 0o700;
}

/** Writes the register last: without it, the files of an interrupted creation are ignored. */
async function createAuthority(
  context: AuthorityContext,
  request: AuthorityRequest,
): Promise<void> {
  const { paths, clock, runProgram } = context;
  const { keyFile, certificateFile } = ownFiles(paths);
  const issuedAt = clock.now();
  const expiresAt = new Date(issuedAt.getTime() + VALID_MS);
  const key = generateKey();
  const serial = generateSerial(context);
  const subject = describeSubject(request.domain, serial);
  writeFile(keyFile, key, { mode: 0o600 });
  using openssl = new Openssl(runProgram, `${paths.authority}/work`);
  const signing = { subject, key, serial, issuedAt, expiresAt };
  const certificate = await openssl.sign(signing, { keyFile, certificateFile: null });
  writeFile(certificateFile, certificate, { mode: 0o600 });
  const { domain, address = null } = request;
  const state = { domain, address, revocationsNumber: 0, nginxReloadedAt: null, certificates: [] };
  writeFile(registerPath(paths), formatRegister(state), { mode: 0o600 });
}

/** A part of the serial number distinguishes the authority from earlier ones of this machine. */
function describeSubject(domain: string, serial: string): string {
  if (!/^[a-z0-9.-]{1,253}$/iu.test(domain)) {
    throw new AuthorityError(`${JSON.stringify(domain)} is not a valid domain for an authority.`);
  }
  const organization = domain.slice(-MAX_NAME_LENGTH);
  return `/O=${organization}/CN=Latchkey agent clients ${serial.slice(-8).toLowerCase()}`;
}

function rename(register: Register, request: AuthorityRequest): Register {
  const { domain, address = register.address } = request;
  if (register.domain === domain && register.address === address) return register;
  return { ...register, domain, address };
}
