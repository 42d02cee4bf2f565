import { createPrivateKey, X509Certificate } from 'node:crypto';

import { PROXY_NAME } from '../proxy-identity.ts';
import { type Authority, makeKey, readIfThere } from './authority.ts';
import type { AuthorityContext } from './context.ts';
import { prepareFile, writeFile } from '../system/write-file.ts';
import { confirm } from './register.ts';

const VALID_DAYS = 365;

/** It is renewed every week that it has not longer than this, so a timer that failed for weeks does no harm. */
const RENEWED_MS = 60 * 86_400_000;

/**
 * Makes the certificate that the proxy shows to the agent, unless there is one that is good for 60 days. The key stays the
 * same, so that key and certificate fit together at every moment; and the one of before stays good, for nginx shows it until it
 * is told to read the new one.
 * @returns whether it was made
 */
export async function ensureProxyCertificate(
  context: AuthorityContext,
  authority: Authority,
): Promise<boolean> {
  if (isProxyCertificateGood(context, authority)) return false;
  const { places, clock } = context;
  const kept = readKey(places.proxyCertificateKey);
  const key = kept ?? makeKey();
  const wish = { name: PROXY_NAME, purpose: 'proxy', days: VALID_DAYS, key } as const;
  const { record, certificate } = await authority.sign(wish);
  if (kept === null) writeFile(places.proxyCertificateKey, key, { mode: 0o600 });
  using prepared = prepareFile(places.proxyCertificate, certificate, { mode: 0o644 });
  const confirmed = confirm(authority.register, record.serial, [], clock.now());
  await authority.commit({ ...confirmed, proxyToldAt: null });
  prepared.place();
  return true;
}

/** Whether there is one with its key, not revoked, and good for 60 days. */
export function isProxyCertificateGood(
  { places, clock }: AuthorityContext,
  authority: Authority,
): boolean {
  const key = readKey(places.proxyCertificateKey);
  const pem = readIfThere(places.proxyCertificate);
  const until = new Date(clock.now().getTime() + RENEWED_MS);
  return key !== null && pem !== null && isGood(authority, pem, key, until);
}

function isGood(authority: Authority, pem: string, key: string, until: Date): boolean {
  const certificate = parse(pem);
  if (certificate === null) return false;
  const record = authority.register.certificates.find(
    ({ serial }) => serial === certificate.serialNumber,
  );
  return (
    record?.revokedAt === null &&
    certificate.verify(authority.certificate.publicKey) &&
    certificate.checkPrivateKey(createPrivateKey(key)) &&
    certificate.validToDate > until
  );
}

/** @returns null for what is no certificate: another takes its place */
function parse(pem: string): X509Certificate | null {
  try {
    return new X509Certificate(pem);
  } catch {
    return null;
  }
}

/** @returns null for what is no key: another takes its place */
function readKey(path: string): string | null {
  const pem = readIfThere(path);
  try {
    return pem !== null && createPrivateKey(pem).asymmetricKeyType === 'ec' ? pem : null;
  } catch {
    return null;
  }
}
