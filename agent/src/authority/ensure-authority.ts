import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

import { makeKey, makeSerial, openAuthority, ownFiles, whileAlone } from './authority.ts';
import {
  type AuthorityContext,
  AuthorityError,
  type AuthorityPlaces,
  explainFileError,
} from './context.ts';
import { ensureProxyCertificate, isProxyCertificateGood } from './renewal.ts';
import { Openssl } from './openssl.ts';
import { writeFile } from '../system/write-file.ts';
import { formatRegister, readRegister, type Register, registerPath } from './register.ts';

/** Ten years with their leap days. */
const VALID_MS = 3_652 * 86_400_000;

/** The longest that a part of a name in a certificate may be (RFC 5280, appendix A). */
const MAX_NAME_LENGTH = 64;

/** What an installation wants of the authority. */
export interface AuthorityWish {
  readonly domain: string;
  /** What viewers connect to, for the bundles; what was said before when left out. */
  readonly address?: string;
  readonly withProxyCertificate: boolean;
}

/**
 * Makes the authority for client certificates unless it is there, and whatever of its files is missing or does not fit. Where
 * all is well no file is touched.
 * @returns whether anything was written
 * @throws AuthorityError when openssl is missing, or the authority's key is
 */
export async function ensureAuthority(
  context: AuthorityContext,
  wish: AuthorityWish,
): Promise<boolean> {
  try {
    makeDirectories(context);
    return await whileAlone(context.places, async () => ensureAll(context, wish));
  } catch (error) {
    throw explainFileError(error);
  }
}

/**
 * Whether all that `ensureAuthority` makes is there and good, so that it would write nothing.
 * @throws AuthorityError when openssl is missing, or the authority's key is
 */
export async function isAuthorityReady(
  context: AuthorityContext,
  wish: AuthorityWish,
): Promise<boolean> {
  const { places } = context;
  try {
    if (readRegister(places) === null || !isPrivate(places)) return false;
    return await whileAlone(places, async () => {
      using authority = openAuthority(context);
      const isNamed = rename(authority.register, wish) === authority.register;
      const isProxyGood = !wish.withProxyCertificate || isProxyCertificateGood(context, authority);
      return isNamed && isProxyGood && (await authority.isSound());
    });
  } catch (error) {
    throw explainFileError(error);
  }
}

async function ensureAll(context: AuthorityContext, wish: AuthorityWish): Promise<boolean> {
  const isNew = readRegister(context.places) === null;
  if (isNew) await makeAuthority(context, wish);
  using authority = openAuthority(context);
  const repaired = await authority.repair();
  const renamed = rename(authority.register, wish);
  const isRenamed = renamed !== authority.register;
  if (isRenamed) authority.save(renamed);
  const signed = wish.withProxyCertificate && (await ensureProxyCertificate(context, authority));
  return isNew || repaired || isRenamed || signed;
}

function makeDirectories({ places }: AuthorityContext): void {
  const published = dirname(places.revocations);
  const isNew = mkdirSync(published, { recursive: true }) !== undefined;
  // The agent must get in, whatever the mask of whoever installs it.
  if (isNew) chmodSync(published, 0o755);
  mkdirSync(places.authority, { recursive: true, mode: 0o700 });
  if (!isPrivate(places)) chmodSync(places.authority, 0o700);
}

function isPrivate({ authority }: AuthorityPlaces): boolean {
  return (statSync(authority).mode & 0o777) === 0o700;
}

/** The register comes last: without it, what an interrupted start left counts for nothing. */
async function makeAuthority(context: AuthorityContext, wish: AuthorityWish): Promise<void> {
  const { places, clock, runProgram } = context;
  const { keyFile, certificateFile } = ownFiles(places);
  const issuedAt = clock.now();
  const expiresAt = new Date(issuedAt.getTime() + VALID_MS);
  const key = makeKey();
  const serial = makeSerial(context);
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

/** A part of the serial number tells an authority from those that this machine had before. */
function describeSubject(domain: string, serial: string): string {
  if (!/^[a-z0-9.-]{1,253}$/iu.test(domain)) {
    throw new AuthorityError(`${JSON.stringify(domain)} is no domain to make an authority for.`);
  }
  const organisation = domain.slice(-MAX_NAME_LENGTH);
  return `/O=${organisation}/CN=Latchkey agent clients ${serial.slice(-8).toLowerCase()}`;
}

function rename(register: Register, { domain, address }: AuthorityWish): Register {
  const wished = address ?? register.address;
  if (register.domain === domain && register.address === wished) return register;
  return { ...register, domain, address: wished };
}
