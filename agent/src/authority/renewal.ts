import { createPrivateKey, X509Certificate } from 'node:crypto';

import { PROXY_NAME } from '../proxy-identity.ts';
import { prepareFile, writeFile } from '../system/write-file.ts';
import { type Authority, makeKey, readIfThere, withAuthority } from './authority.ts';
import { type AuthorityContext, AuthorityError } from './context.ts';
import { confirm, numberAnew } from './register.ts';

/** What was renewed. */
interface Refreshed {
  readonly number: number;
  readonly isProxyRenewed: boolean;
}

/**
 * Makes the list of revoked certificates anew, since a list that is out of date lets nobody in, and the proxy's certificate
 * when its end is near.
 */
export async function refreshList(context: AuthorityContext): Promise<Refreshed> {
  return withAuthority(context, async (authority) => {
    await authority.commit(numberAnew(authority.register));
    const hasProxy = authority.register.certificates.some(({ purpose }) => purpose === 'proxy');
    const isProxyRenewed = hasProxy && (await ensureProxyCertificate(context, authority));
    return { number: authority.register.revocationsNumber, isProxyRenewed };
  });
}

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

/** nginx reads a list once, when it is started or told to, and that list must not get out of date in its memory. */
const TOLD_AGAIN_MS = 60 * 86_400_000;

const TIMEOUT_MS = 60_000;

/** What `systemctl is-active` ends with for a unit that is stopped, and for one that is not there. */
const NOT_RUNNING = new Set<number | null>([3, 4]);

/** What became of nginx: not running, up to date, or told to read its files. */
type NginxState = 'stopped' | 'current' | 'reloaded';

/**
 * Tells nginx to read its files when something of the authority changed since it last did, also when that failed before.
 * @throws AuthorityError when it cannot be told, so that it still goes by the old ones
 */
export async function tellNginx(context: AuthorityContext): Promise<NginxState> {
  return withAuthority(context, async (authority) => {
    const now = context.clock.now();
    const toldAtMs = authority.register.proxyToldAt?.getTime() ?? 0;
    if (now.getTime() - toldAtMs < TOLD_AGAIN_MS) return 'current';
    const state = await reload(context);
    // One that is started later reads what is there then.
    authority.save({ ...authority.register, proxyToldAt: now });
    return state;
  });
}

async function reload({ runProgram }: AuthorityContext): Promise<'reloaded' | 'stopped'> {
  const active = await runProgram('systemctl', ['is-active', '--quiet', 'nginx.service']);
  if (NOT_RUNNING.has(active.code)) return 'stopped';
  const options = { timeoutMs: TIMEOUT_MS };
  const { code, stderr, fault } = await runProgram(
    'systemctl',
    ['reload', 'nginx.service'],
    options,
  );
  if (code === 0) return 'reloaded';
  const why = fault ?? stderr.trim();
  throw new AuthorityError(
    `nginx still goes by the old files, for it could not be reloaded: see what "nginx -t" says, then run "systemctl reload nginx". (${why})`,
  );
}
