import { createPrivateKey, X509Certificate } from 'node:crypto';

import { PROXY_NAME } from '../proxy-identity.ts';
import { prepareFile, writeFile } from '../system/write-file.ts';
import { type Authority, generateKey, withAuthority } from './authority.ts';
import { type AuthorityContext, AuthorityError, readIfExists } from './context.ts';
import { markIssued, incrementListNumber } from './register.ts';

/**
 * Renews the revocation list, since all clients are rejected after its expiry, and the proxy's certificate before it expires.
 * @returns the number of the list
 */
export async function refreshList(
  context: AuthorityContext,
): Promise<{ number: number; isProxyRenewed: boolean }> {
  return withAuthority(context, async (authority) => {
    await authority.commit(incrementListNumber(authority.register));
    const hasProxy = authority.register.certificates.some(({ purpose }) => purpose === 'proxy');
    const isProxyRenewed = hasProxy && (await ensureProxyCertificate(context, authority));
    return { number: authority.register.revocationsNumber, isProxyRenewed };
  });
}

const VALID_DAYS = 365;

/** The certificate is renewed this long before its expiry, so that failures of the weekly timer for weeks do no harm. */
const RENEWAL_MARGIN_MS = 60 * 86_400_000;

/**
 * Creates the proxy's certificate, unless there is one that is valid for 60 days. The key stays the same, so that key and
 * certificate always match, and the previous certificate stays valid until nginx is reloaded.
 * @returns whether it was created
 */
export async function ensureProxyCertificate(
  context: AuthorityContext,
  authority: Authority,
): Promise<boolean> {
  if (isProxyCertificateValid(context, authority)) return false;
  const { paths, clock } = context;
  const kept = readKey(paths.proxyCertificateKey);
  const key = kept ?? generateKey();
  const request = { name: PROXY_NAME, purpose: 'proxy', days: VALID_DAYS, key } as const;
  const { record, certificate } = await authority.sign(request);
  if (kept === null) writeFile(paths.proxyCertificateKey, key, { mode: 0o600 });
  using prepared = prepareFile(paths.proxyCertificate, certificate, { mode: 0o644 });
  const confirmed = markIssued(authority.register, record.serial, [], clock.now());
  await authority.commit({ ...confirmed, nginxReloadedAt: null });
  prepared.place();
  return true;
}

/** Whether the proxy has a certificate with its key that is not revoked and valid for 60 days. */
export function isProxyCertificateValid(
  { paths, clock }: AuthorityContext,
  authority: Authority,
): boolean {
  const key = readKey(paths.proxyCertificateKey);
  const pem = readIfExists(paths.proxyCertificate);
  const until = new Date(clock.now().getTime() + RENEWAL_MARGIN_MS);
  return key !== null && pem !== null && isValid(authority, pem, key, until);
}

function isValid(authority: Authority, pem: string, key: string, until: Date): boolean {
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

/** @returns null for an invalid certificate, which is replaced */
function parse(pem: string): X509Certificate | null {
  try {
    return new X509Certificate(pem);
  } catch {
    return null;
  }
}

/** @returns null for an invalid key, which is replaced */
function readKey(path: string): string | null {
  const pem = readIfExists(path);
  try {
    return pem !== null && createPrivateKey(pem).asymmetricKeyType === 'ec' ? pem : null;
  } catch {
    return null;
  }
}

/** nginx reads a list only at its start and on reload, and the list in its memory must not expire. */
const RELOAD_INTERVAL_MS = 60 * 86_400_000;

const TIMEOUT_MS = 60_000;

/** Exit codes of `systemctl is-active` for a stopped and a missing unit. */
const NOT_RUNNING = new Set<number | null>([3, 4]);

/** The outcome of a reload of nginx. */
type NginxState = 'stopped' | 'current' | 'reloaded';

/**
 * Reloads nginx when files of the authority changed since the last successful reload.
 * @throws AuthorityError when the reload fails, so that nginx still uses the old files
 */
export async function reloadNginx(context: AuthorityContext): Promise<NginxState> {
  return withAuthority(context, async (authority) => {
    const now = context.clock.now();
    const reloadedAtMs = authority.register.nginxReloadedAt?.getTime() ?? 0;
    if (now.getTime() - reloadedAtMs < RELOAD_INTERVAL_MS) return 'current';
    const state = await reloadIfRunning(context);
    // A stopped nginx reads the files when it starts.
    authority.save({ ...authority.register, nginxReloadedAt: now });
    return state;
  });
}

async function reloadIfRunning({ runProgram }: AuthorityContext): Promise<'reloaded' | 'stopped'> {
  const active = await runProgram('systemctl', ['is-active', '--quiet', 'nginx.service']);
  if (NOT_RUNNING.has(active.code)) return 'stopped';
  const reload = ['reload', 'nginx.service'];
  const { code, stderr, fault } = await runProgram('systemctl', reload, { timeoutMs: TIMEOUT_MS });
  if (code === 0) return 'reloaded';
  const why = fault ?? stderr.trim();
  throw new AuthorityError(
    `nginx could not be reloaded and still uses the old files: check "nginx -t", then run "systemctl reload nginx". (${why})`,
  );
}
