import { gzipSync } from 'node:zlib';

import { packTar } from '../system/tar.ts';
import { formatDate, type SignedCertificate } from './authority.ts';
import type { Register } from './register.ts';

/** The content of a bundle. */
interface BundleParts {
  readonly signed: SignedCertificate;
  /** The authority's certificate, as PEM. */
  readonly authority: string;
  readonly pkcs12: Buffer;
  readonly register: Register;
}

/** Packs a client's files: a compressed archive with one directory, named after the client. */
export function packBundle({ signed, authority, pkcs12, register }: BundleParts): Buffer {
  const { record, certificate, key } = signed;
  const { name, issuedAt, expiresAt } = record;
  const readme = renderReadme(register, name, formatDate(expiresAt));
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

/** @param expires a day, such as `2027-11-21` */
function renderReadme({ domain, address }: Register, name: string, expires: string): string {
  const url = address ?? `wss://${domain}:4096`;
  const where =
    address === null ? `${url} or wss://${domain}/latchkey, depending on the installation` : url;
  return `Client certificate "${name}" for ${domain}

Valid until: ${expires}. Ask for a new certificate before this date.
Connect to:  ${where}

Anyone with client.key or ${name}.p12 and its password can watch this machine. Keep them secret, and report
a loss at once: they can be revoked.

Files
  client.pem             the certificate
  client.key             its private key, not encrypted
  client-with-chain.pem  the certificate and the authority's, for programs that want both
  ${`${name}.p12`.padEnd(21)}  certificate and key, for browsers and systems; its password was printed once, when it was created
  ca.pem                 the authority that signed the certificate. It is not the server's: do not trust it for web sites.

Import ${name}.p12
  macOS    Open it and add it to the keychain "login". Safari and Chrome ask which certificate to show.
  Windows  Open it, choose "Current user", type the password, keep "automatically select the store". Edge and Chrome use it.
  Firefox  Settings, Privacy & Security, View Certificates, Your Certificates, Import.
  Chrome   On Linux: chrome://certificate-manager, Your certificates, Import.

Try it (in this directory)
  curl: "101 Switching Protocols" is a success
    curl --include --no-buffer --http1.1 --max-time 5 --cert client.pem --key client.key \\
      --header 'Connection: Upgrade' --header 'Upgrade: websocket' \\
      --header 'Sec-WebSocket-Version: 13' --header 'Sec-WebSocket-Key: bGF0Y2hrZXktYWdlbnQhIQ==' \\
      '${url.replace(/^wss:/u, 'https:')}'

  websocat
    websocat --client-pkcs12-der ${name}.p12 --client-pkcs12-passwd PASSWORD '${url}'

  Node.js (npm install ws)
    import { readFileSync } from 'node:fs';
    import { WebSocket } from 'ws';
    const [cert, key] = [readFileSync('client.pem'), readFileSync('client.key')];
    new WebSocket('${url}', { cert, key }).on('message', (data) => console.log(String(data)));
`;
}
