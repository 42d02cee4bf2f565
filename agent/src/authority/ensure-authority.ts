import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

import { generateKey, generateSerial, openAuthority, ownFiles, whileAlone } from './authority.ts';
import {
  type AuthorityContext,
  AuthorityError,
  type AuthorityPlaces,
  explainFileError,
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
  wish: AuthorityRequest,
): Promise<boolean> {
  try {
    createDirectories(context);
    return await whileAlone(context.places, async () => ensureAll(context, wish));
  } catch (error) {
    throw explainFileError(error);
  }
}

/**
 * Whether `ensureAuthority` would write nothing.
 * @throws AuthorityError when openssl is missing, or the authority's key is
 */
export async function isAuthorityReady(
  context: AuthorityContext,
  wish: AuthorityRequest,
): Promise<boolean> {
  const { places } = context;
  try {
    if (readRegister(places) === null || !isPrivate(places)) return false;
    return await whileAlone(places, async () => {
      using authority = openAuthority(context);
      const hasNames = rename(authority.register, wish) === authority.register;
      const isProxyValid =
        !wish.withProxyCertificate || isProxyCertificateValid(context, authority);
      return hasNames && isProxyValid && (await authority.isConsistent());
    });
  } catch (error) {
    throw explainFileError(error);
  }
}

async function ensureAll(context: AuthorityContext, wish: AuthorityRequest): Promise<boolean> {
  const isNew = readRegister(context.places) === null;
  if (isNew) await createAuthority(context, wish);
  using authority = openAuthority(context);
  const repaired = await authority.repair();
  const renamed = rename(authority.register, wish);
  const isRenamed = renamed !== authority.register;
  if (isRenamed) authority.save(renamed);
  const signed = wish.withProxyCertificate && (await ensureProxyCertificate(context, authority));
  return isNew || repaired || isRenamed || signed;
}

function createDirectories({ places }: AuthorityContext): void {
  const published = dirname(places.revocations);
  const isNew = mkdirSync(published, { recursive: true }) !== undefined;
  // Readable for the agent, whatever the umask.
  if (isNew) chmodSync(published, 0o755);
  mkdirSync(places.authority, { recursive: true, mode: 0o700 });
  if (!isPrivate(places)) chmodSync(places.authority, 0o700);
}

function isPrivate({ authority }: AuthorityPlaces): boolean {
  return (statSync(authority).mode & 0o777) === 0o700;
}

/** Writes the register last: without it, the files of an interrupted creation are ignored. */
async function createAuthority(context: AuthorityContext, wish: AuthorityRequest): Promise<void> {
  const { places, clock, runProgram } = context;
  const { keyFile, certificateFile } = ownFiles(places);
  const issuedAt = clock.now();
  const expiresAt = new Date(issuedAt.getTime() + VALID_MS);
  const key = generateKey();
  const serial = generateSerial(context);
  const subject = describeSubject(wish.domain, serial);
  writeFile(keyFile, key, { mode: 0o600 });
  using openssl = new Openssl(runProgram, `${places.authority}/work`);
  const asked = { subject, key, serial, issuedAt, expiresAt };
  const certificate = await openssl.sign(asked, { keyFile, certificateFile: null });
  writeFile(certificateFile, certificate, { mode: 0o600 });
  const { domain, address = null } = wish;
  const state = { domain, address, revocationsNumber: 0, proxyToldAt: null, certificates: [] };
  writeFile(registerPath(places), formatRegister(state), { mode: 0o600 });
}

/** A part of the serial number distinguishes the authority from earlier ones of this machine. */
function describeSubject(domain: string, serial: string): string {
  if (!/^[a-z0-9.-]{1,253}$/iu.test(domain)) {
    throw new AuthorityError(`${JSON.stringify(domain)} is not a valid domain for an authority.`);
  }
  const organisation = domain.slice(-MAX_NAME_LENGTH);
  return `/O=${organisation}/CN=Latchkey agent clients ${serial.slice(-8).toLowerCase()}`;
}

function rename(register: Register, { domain, address }: AuthorityRequest): Register {
  const wished = address ?? register.address;
  if (register.domain === domain && register.address === wished) return register;
  return { ...register, domain, address: wished };
}
