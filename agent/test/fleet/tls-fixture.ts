/** The certificates of a fleet. */
import { createHash, X509Certificate } from 'node:crypto';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { readTlsMaterial, type TlsMaterial } from '#agent/tls/tls-files.ts';

import type { CertificateFixture } from '../certificates.ts';
import type { AgentPlan, AgentTls } from './plan.ts';

/** The certificates, as agents read them. */
export interface FleetTls {
  readonly materials: Readonly<Record<AgentTls, TlsMaterial>>;
  /** The trusted certificate. */
  readonly pair: { readonly cert: string; readonly key: string };
}

const FILES = {
  authority: 'authority.pem',
  trusted: ['trusted.pem', 'trusted.key'],
  untrusted: ['untrusted.pem', 'untrusted.key'],
} as const;

/** Creates the files in the directory of a fixture: one certificate for all addresses, and one that no browser trusts. */
export function writeTlsFiles(fixture: CertificateFixture, plans: readonly AgentPlan[]): void {
  const addresses = plans.map(({ host }) => `IP:${host}`).join(',');
  const at = (file: string): string => join(fixture.directory, file);
  const extensions = `subjectAltName=${addresses}\nextendedKeyUsage=serverAuth\n`;
  for (const name of ['trusted', 'untrusted'] as const) {
    const { own } = fixture.createRoot(`root-of-${name}`);
    const { certificateFile, keyFile } = fixture.read(fixture.sign(own, name, { extensions }));
    copyFileSync(certificateFile, at(FILES[name][0]));
    copyFileSync(keyFile, at(FILES[name][1]));
    if (name === 'trusted') copyFileSync(own.certificateFile, at(FILES.authority));
  }
}

/** Reads the files that `writeTlsFiles` created. */
export function readTlsFiles(directory: string): FleetTls {
  const at = (file: string): string => join(directory, file);
  const open = (name: 'trusted' | 'untrusted', clients: string | null): TlsMaterial =>
    readTlsMaterial({
      certificateFile: at(FILES[name][0]),
      keyFile: at(FILES[name][1]),
      clients: clients === null ? null : { authorityFile: at(clients), revocationFile: null },
    });
  const [certFile, keyFile] = FILES.trusted;
  return {
    materials: {
      trusted: open('trusted', null),
      untrusted: open('untrusted', null),
      mutual: open('trusted', FILES.authority),
    },
    pair: { cert: readFileSync(at(certFile), 'utf8'), key: readFileSync(at(keyFile), 'utf8') },
  };
}

/** The authority of the trusted certificate, for browsers that import it. */
export function authorityFile(directory: string): string {
  return join(directory, FILES.authority);
}

/** Returns the argument with which Chromium trusts the certificate and no other. */
export function trustArgument(directory: string): string {
  const { publicKey } = new X509Certificate(readFileSync(join(directory, FILES.trusted[0])));
  const key = publicKey.export({ type: 'spki', format: 'der' });
  const digest = createHash('sha256').update(key).digest('base64');
  return `--ignore-certificate-errors-spki-list=${digest}`;
}
