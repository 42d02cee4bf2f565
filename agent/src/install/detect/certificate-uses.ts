import { join } from 'node:path';

import { listDirectory, readText } from '../../read/small-file.ts';
import type { CertificateUse } from '../facts.ts';
import { challengePlaces, serverPlaces } from '../nginx/own-files.ts';
import { paths } from '../paths.ts';
import { listWebroots } from './certificates.ts';
import type { Detection } from './detection.ts';

const LIVE = '/etc/letsencrypt/live';
const RENEWALS = '/etc/letsencrypt/renewal';

/** Where programs keep their configuration. */
const CONFIGURATIONS = ['/etc', '/usr/local/etc'];

const TIMEOUT_MS = 30_000;

const OWN: ReadonlySet<string> = new Set([
  ...serverPlaces,
  ...challengePlaces,
  paths.nginxRoute,
  paths.nginxChallenge,
  paths.renewalHook,
]);

/**
 * Lists which configurations name which of certbot's certificates, by a text or by a link, without the files of an
 * installation and certbot's own.
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
  const [, path = '', name = ''] = /^(.+?):.*\/etc\/letsencrypt\/live\/([^/\s]+)/u.exec(line) ?? [];
  return name === '' ? [] : [{ name, path: path.slice(root.length) }];
}

/** The certificates whose renewal needs somebody to answer challenges from our directory, by their names. */
export function detectChallenged({ root }: Pick<Detection, 'root'>): string[] {
  return listDirectory(join(root, RENEWALS))
    .filter((name) => name.endsWith('.conf'))
    .filter((name) => {
      const text = readText(join(root, RENEWALS, name)) ?? '';
      return listWebroots(text).includes(paths.challenges);
    })
    .map((name) => name.slice(0, -'.conf'.length));
}
