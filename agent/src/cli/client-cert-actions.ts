import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { formatDate } from '../authority/authority.ts';
import type { AuthorityContext } from '../authority/context.ts';
import {
  createClient,
  type ListedCertificate,
  listCertificates,
  revokeClient,
} from '../authority/clients.ts';
import { refreshList, reloadNginx } from '../authority/renewal.ts';
import { systemClock } from '../clock.ts';
import { ConfigError } from '../config/config.ts';
import { loadConfig } from '../config/load-config.ts';
import { detectInstalled } from '../install/detect/installed.ts';
import { paths } from '../install/paths.ts';
import { runProgram } from '../system/run-program.ts';
import { requestReload } from '../service/client.ts';
import { formatTable, type OutputOptions, printNote, printResult } from './output.ts';

export interface RootOptions {
  readonly root: string;
}

export interface CreateOptions extends OutputOptions, RootOptions {
  readonly days: number;
  readonly output: string;
}

/** Creates a certificate, and prints the path of its bundle and its password, which is shown only once. */
export async function create(name: string, options: CreateOptions): Promise<void> {
  const created = await createClient(openContext(options), { ...options, name });
  const { path, sha256, password, record, replaced } = created;
  const expires = formatDate(record.expiresAt);
  const result = { path, sha256, password, ...describeTimes(record), replaced: replaced.length };
  const lines = [
    ['file', path],
    ['sha256', sha256],
    ['password', `${password}  (of ${name}.p12; shown only once and not stored)`],
    ['expires', expires],
  ];
  printResult(options, result, () =>
    [
      `Created a certificate for ${name}, valid until ${expires}.`,
      ...lines.map(([label = '', value = '']) => `  ${label.padEnd(8)}  ${value}`),
    ].join('\n'),
  );
  if (replaced.length === 0) return;
  printNote(`Earlier certificates of ${name} are revoked.`);
  await applyRevocation(options);
}

/** Prints all certificates. */
export function list(options: OutputOptions & RootOptions): void {
  const { certificates, warnings } = listCertificates(openContext(options));
  const result = {
    certificates: certificates.map(({ record, status }) => {
      return { name: record.name, purpose: record.purpose, status, ...describeTimes(record) };
    }),
    warnings,
  };
  printResult(options, result, () => {
    const header = ['name', 'status', 'issued', 'expires', 'serial'];
    const table = formatTable(header, certificates.map(describeRow));
    return [table || 'There are no certificates yet.', ...warnings.map((each) => `! ${each}`)].join(
      '\n',
    );
  });
}

/** Revokes all certificates of a client. */
export async function revoke(name: string, options: OutputOptions & RootOptions): Promise<void> {
  const revoked = await revokeClient(openContext(options), name);
  const serials = revoked.map(({ serial }) => serial);
  printResult(options, { name, revoked: serials }, () => {
    const what = serials.length === 1 ? 'The certificate' : `${serials.length} certificates`;
    return `${what} of ${name} ${serials.length === 1 ? 'is' : 'are'} revoked.`;
  });
  await applyRevocation(options);
}

/** Renews the revocation list and the proxy's certificate. */
export async function refresh(options: OutputOptions & RootOptions): Promise<void> {
  const { number, isProxyRenewed } = await refreshList(openContext(options));
  const result = { number, proxy_renewed: isProxyRenewed };
  const proxy = isProxyRenewed ? " The proxy's certificate is renewed, too." : '';
  printResult(
    options,
    result,
    () => `The list of revoked certificates is renewed (number ${number}).${proxy}`,
  );
  await reloadProxy(options);
}

/** Printed after a revocation that a running agent has applied. */
export const REVOCATION_APPLIED_NOTE =
  'The agent has read the new list and closed the connections of revoked certificates.';

/** Makes the agent close connections of revoked certificates, also those through a proxy. */
async function applyRevocation(options: RootOptions): Promise<void> {
  printNote(
    (await reloadAgent(options))
      ? REVOCATION_APPLIED_NOTE
      : 'The agent reads the new list within ten seconds and closes the connections of revoked certificates.',
  );
  await reloadProxy(options);
}

/** @returns whether a running agent has reloaded; otherwise it does so by itself, or at its start */
async function reloadAgent({ root }: RootOptions): Promise<boolean> {
  const path = join(root, paths.configuration);
  if (!existsSync(path)) return false;
  try {
    const { controlSocket } = await loadConfig(path);
    return controlSocket !== null && (await requestReload(controlSocket)) === null;
  } catch (error) {
    // The certificate is revoked; the agent and the doctor report problems of the configuration.
    if (error instanceof ConfigError) return false;
    throw error;
  }
}

async function reloadProxy(options: RootOptions): Promise<void> {
  const front = findFront(options);
  if (front === 'manual') {
    printNote(
      'You configured the web server in front of the agent: reload it, so that it rejects revoked certificates, too.',
    );
  }
  if (front !== 'nginx') return;
  const state = await reloadNginx(openContext(options));
  if (state === 'reloaded') printNote('nginx was reloaded and reads the new list.');
  if (state === 'stopped') printNote('nginx does not run; it reads the new list when it starts.');
}

/** Returns the web server that verifies client certificates before the agent; null without one. */
function findFront({ root }: RootOptions): 'manual' | 'nginx' | null {
  const { installed } = detectInstalled({ root });
  if (installed?.mode === 'proxy') return installed.proxyByHand ? 'manual' : 'nginx';
  // A running installation records its mode only at the end.
  const ours = [paths.nginxServer, paths.nginxRoute].map((path) => join(root, path));
  return ours.some((path) => existsSync(path)) ? 'nginx' : null;
}

function openContext({ root }: RootOptions): AuthorityContext {
  const at = (path: string): string => join(root, path);
  const below = {
    authority: at(paths.authority),
    authorityCertificate: at(paths.authorityCertificate),
    revocations: at(paths.revocations),
    proxyCertificate: at(paths.proxyCertificate),
    proxyCertificateKey: at(paths.proxyCertificateKey),
  };
  return { paths: below, runProgram, clock: systemClock, randomBytes };
}

function describeRow({ record, status }: ListedCertificate): string[] {
  const { name, issuedAt, expiresAt, serial } = record;
  return [name, status, formatDate(issuedAt), formatDate(expiresAt), serial];
}

function describeTimes({ serial, issuedAt, expiresAt, revokedAt }: ListedCertificate['record']) {
  return {
    serial,
    issued_at: issuedAt.toISOString(),
    expires_at: expiresAt.toISOString(),
    revoked_at: revokedAt?.toISOString() ?? null,
  };
}
