import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { listDirectory, readText } from '../../read/small-file.ts';
import type { CertificateFacts, CertificateUse } from '../facts.ts';
import { challengePaths, serverPaths } from '../nginx/own-files.ts';
import type { InstallOptions } from '../options.ts';
import { paths } from '../paths.ts';
import type { Detection } from '../../system/run-program.ts';

const LETSENCRYPT = '/etc/letsencrypt';

/** Some hosts have thousands of certificates, and each takes time to parse. */
const MAX_LINEAGES = 2_000;

/**
 * Returns the certificate of certbot for a domain: by its name; otherwise the valid certificate that covers the domain and
 * expires last.
 */
export function detectCertificate(
  { root }: Detection,
  domain: string,
  now: Date,
): CertificateFacts | null {
  const names = listDirectory(join(root, LETSENCRYPT, 'renewal'))
    .filter((name) => name.endsWith('.conf'))
    .map((name) => name.slice(0, -'.conf'.length))
    // The names are written into a script, so only names that certbot creates are accepted.
    .filter((name) => /^[\w.*-]+$/u.test(name))
    .slice(0, MAX_LINEAGES);
  const found = names
    .map((name) => readLineage(root, name, domain, now))
    .filter((each) => each !== null);
  const lasting = found
    .filter(({ isExpired }) => !isExpired)
    .sort((one, other) => other.expiresAt.getTime() - one.expiresAt.getTime());
  return found.find(({ name }) => name === domain) ?? lasting[0] ?? null;
}

function readLineage(
  root: string,
  name: string,
  domain: string,
  now: Date,
): CertificateFacts | null {
  const directory = join(LETSENCRYPT, 'live', name);
  const certificate = parseCertificate(readText(join(root, directory, 'fullchain.pem')));
  if (certificate === null || !isFor(certificate, domain)) return null;
  const renewal = readText(join(root, LETSENCRYPT, 'renewal', `${name}.conf`)) ?? '';
  const [, authenticator = ''] = /^authenticator\s*=\s*(\S+)/mu.exec(renewal) ?? [];
  const expiresAt = certificate.validToDate;
  const webroots = listWebroots(renewal);
  return { name, directory, expiresAt, isExpired: expiresAt <= now, authenticator, webroots };
}

/**
 * Returns the webroots of a renewal configuration: one for all names (`webroot_path`, separated by commas), or one for each
 * (`[[webroot_map]]`).
 */
function listWebroots(renewal: string): string[] {
  const [, shared = ''] = /^webroot_path\s*=\s*(.*)$/mu.exec(renewal) ?? [];
  const [, map = ''] = /^\[\[webroot_map\]\]$([\s\S]*)/mu.exec(renewal) ?? [];
  const each = [...map.matchAll(/^[^#=[\]\r\n\u2028\u2029]+=(.*)$/gmu)].map(
    ([, path = '']) => path,
  );
  const all = [...shared.split(','), ...each].map((path) => path.trim().replace(/(?<=.)\/$/u, ''));
  return [...new Set(all)].filter((path) => path !== '');
}

function parseCertificate(text: string | null): X509Certificate | null {
  try {
    return text === null ? null : new X509Certificate(text);
  } catch {
    // A damaged certificate cannot be used; certbot reports it.
    return null;
  }
}

function isFor(certificate: X509Certificate, domain: string): boolean {
  return certificate.checkHost(domain, { subject: 'never' }) !== undefined;
}

/** Returns the problem with the given files, as a sentence. */
export function findGivenFault(
  { root }: Detection,
  { domain, certificateFiles }: Pick<InstallOptions, 'certificateFiles' | 'domain'>,
  now: Date,
): string | null {
  if (certificateFiles === null) return null;
  const { certificate: certificateFile, key: keyFile } = certificateFiles;
  try {
    const text = readGiven(root, certificateFile);
    if (!text.includes('-----BEGIN CERTIFICATE-----')) throw new Error('the first is not in PEM');
    const certificate = new X509Certificate(text);
    const key = createPrivateKey(readGiven(root, keyFile));
    return findCertificateProblem(
      certificateFiles,
      certificate,
      certificate.checkPrivateKey(key),
      domain,
      now,
    );
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `${certificateFile} and ${keyFile} cannot be used: ${why}. Give a certificate with its chain, and its key without a passphrase, both in PEM.`;
  }
}

/**
 * @throws Error when the path is not a file
 */
function readGiven(root: string, path: string): string {
  const stats = statSync(join(root, path), { throwIfNoEntry: false });
  if (stats === undefined) throw new Error(`there is no file ${path}`);
  if (!stats.isFile()) throw new Error(`${path} is not a file`);
  return readFileSync(join(root, path), 'utf8');
}

function findCertificateProblem(
  { certificate: file, key }: { readonly certificate: string; readonly key: string },
  certificate: X509Certificate,
  matchesKey: boolean,
  domain: string,
  now: Date,
): string | null {
  if (!matchesKey) return `${key} is not the key of ${file}: give the two that belong together.`;
  if (!isFor(certificate, domain)) {
    return `${file} is for ${certificate.subjectAltName ?? 'no name'} and not for ${domain}: give one that is.`;
  }
  const until = certificate.validToDate;
  return until > now ? null : `${file} expired on ${until.toISOString()}: give one that is valid.`;
}

const LIVE = '/etc/letsencrypt/live';
const RENEWALS = '/etc/letsencrypt/renewal';

/** The directories of configurations. */
const CONFIGURATIONS = ['/etc', '/usr/local/etc'];

const TIMEOUT_MS = 30_000;

const OWN: ReadonlySet<string> = new Set([
  ...serverPaths,
  ...challengePaths,
  paths.nginxRoute,
  paths.nginxChallenge,
  paths.renewalHook,
]);

/**
 * Lists the configurations that name certificates of certbot, in a text or by a link, without the files of an installation and
 * of certbot.
 */
export async function detectCertificateUses({
  root,
  runProgram,
}: Detection): Promise<CertificateUse[]> {
  const places = CONFIGURATIONS.map((path) => join(root, path));
  const own = ['live', 'archive', 'renewal'].map((name) => `--exclude-dir=${name}`);
  // Devices are not read, and links not followed.
  const how = ['--recursive', '--no-messages', '--binary-files=without-match', '--devices=skip'];
  const match = ['--only-matching', '--extended-regexp', `${LIVE}/[^/[:space:]]+`];
  const links = ['-path', join(root, '/etc/letsencrypt'), '-prune', '-o', '-lname', `*${LIVE}/*`];
  const options = { timeoutMs: TIMEOUT_MS };
  const [texts, linked] = await Promise.all([
    runProgram('grep', [...how, ...own, ...match, ...places], options),
    runProgram('find', [...places, ...links, '-printf', '%p:%l\n'], options),
  ]);
  const lines = [...texts.stdout.split('\n'), ...linked.stdout.split('\n')];
  return lines.flatMap((line) => parseUse(line, root)).filter(({ path }) => !OWN.has(path));
}

function parseUse(line: string, root: string): CertificateUse[] {
  const end = line.indexOf(':', 1);
  const live = line.lastIndexOf(`${LIVE}/`);
  if (end === -1 || live < end) return [];
  const [name = ''] = /^[^/\s]*/u.exec(line.slice(live + LIVE.length + 1)) ?? [];
  return name === '' ? [] : [{ name, path: line.slice(root.length, end) }];
}

/** Returns the names of the certificates whose renewal needs answers from our challenge directory. */
export function detectChallenged({ root }: Pick<Detection, 'root'>): string[] {
  return listDirectory(join(root, RENEWALS))
    .filter((name) => name.endsWith('.conf'))
    .filter((name) => {
      const text = readText(join(root, RENEWALS, name)) ?? '';
      return listWebroots(text).includes(paths.challenges);
    })
    .map((name) => name.slice(0, -'.conf'.length));
}
