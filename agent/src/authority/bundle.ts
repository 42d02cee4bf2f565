import { gzipSync } from 'node:zlib';

import { formatDate, type SignedCertificate } from './authority.ts';
import { writeReadme } from './readme-text.ts';
import type { Register } from './register.ts';
import { packTar } from '../system/tar.ts';

/** What a bundle is made of. */
export interface BundleParts {
  readonly signed: SignedCertificate;
  /** The authority's certificate, as PEM. */
  readonly authority: string;
  readonly pkcs12: Buffer;
  readonly register: Register;
}

/** Packs what a client needs: a compressed archive with one directory of the client's name. */
export function packBundle({ signed, authority, pkcs12, register }: BundleParts): Buffer {
  const { record, certificate, key } = signed;
  const { name, issuedAt, expiresAt } = record;
  const { domain, address } = register;
  const readme = writeReadme({ name, domain, address, expires: formatDate(expiresAt) });
  const entry = (file: string, content: string | Buffer, mode = 0o600) => {
    return { path: `${name}/${file}`, content: Buffer.from(content), mode };
  };
  const entries = [
    entry('README.txt', readme, 0o644),
    entry('client.pem', certificate, 0o644),
    entry('client.key', key),
    entry('client-with-chain.pem', `${certificate}${authority}`, 0o644),
    entry(`${name}.p12`, pkcs12),
    entry('ca.pem', authority, 0o644),
  ];
  return gzipSync(packTar(entries, issuedAt));
}
