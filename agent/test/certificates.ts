import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { PROXY_NAME } from '#agent/proxy-identity.ts';

/** The reason to skip tests that need certificates; false when openssl is installed. */
export const lacksOpenssl =
  spawnSync('openssl', ['version']).status === 0 ? false : 'needs openssl to create certificates';

/** A certificate with its key, as files and as text. */
export interface Certificate {
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
}

interface CertificateOptions {
  readonly extensions: string;
  readonly days?: number;
}

const SERVER = 'subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n';
const CLIENT = 'extendedKeyUsage=clientAuth\n';
const AUTHORITY = 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\n';

const NEW_KEY = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes';

/** Creates certificates in a temporary directory. */
export class CertificateFixture implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'latchkey-certificates-'));
  #count = 0;

  /** Creates an authority with a self-signed certificate. */
  createRoot(name: string): Authority {
    const baseName = this.#name(name);
    this.openssl(
      `req -x509 ${NEW_KEY} -subj /CN=${name} -days 30 -addext keyUsage=critical,keyCertSign,cRLSign`,
      `-keyout ${baseName}.key -out ${baseName}.pem`,
    );
    return new Authority(this, this.read(baseName), baseName);
  }

  /** Creates a certificate that an issuer signs. @returns its name for `read` */
  sign(issuer: Certificate, name: string, { extensions, days = 30 }: CertificateOptions): string {
    const baseName = this.#name(name);
    writeFileSync(join(this.directory, `${baseName}.ext`), extensions);
    const subject = ['-subj', `/CN=${name}`];
    this.openssl(`req ${NEW_KEY}`, subject, `-keyout ${baseName}.key -out ${baseName}.csr`);
    this.openssl(
      `x509 -req -in ${baseName}.csr -CA ${issuer.certificateFile} -CAkey ${issuer.keyFile}`,
      `-set_serial ${1000 + this.#count} -days ${days} -extfile ${baseName}.ext -out ${baseName}.pem`,
    );
    return baseName;
  }

  read(name: string): Certificate {
    const certificateFile = join(this.directory, `${name}.pem`);
    const keyFile = join(this.directory, `${name}.key`);
    const [cert, key] = [readFileSync(certificateFile, 'utf8'), readFileSync(keyFile, 'utf8')];
    return { certificateFile, keyFile, cert, key };
  }

  /** Runs openssl. Texts are split at spaces into arguments, lists are passed unchanged. */
  openssl(...lines: readonly (string | readonly string[])[]): void {
    const args = lines.flatMap((line) => (typeof line === 'string' ? line.split(' ') : line));
    execFileSync('openssl', args, { cwd: this.directory, stdio: 'pipe' });
  }

  #name(name: string): string {
    this.#count += 1;
    return `${name.replaceAll(' ', '-')}-${this.#count}`;
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true });
  }
}

/** Issues and revokes certificates. */
class Authority {
  readonly own: Certificate;
  readonly #fixture: CertificateFixture;
  readonly #name: string;

  constructor(fixture: CertificateFixture, own: Certificate, name: string) {
    this.#fixture = fixture;
    this.own = own;
    this.#name = name;
  }

  issueServer(days?: number): Certificate {
    const options = { extensions: SERVER, ...(days === undefined ? {} : { days }) };
    return this.#fixture.read(this.#fixture.sign(this.own, 'localhost', options));
  }

  issueClient(name: string): Certificate {
    return this.#fixture.read(this.#fixture.sign(this.own, name, { extensions: CLIENT }));
  }

  /** Issues the certificate that the proxy presents to the agent. */
  issueProxy(): Certificate {
    return this.issueClient(PROXY_NAME);
  }

  /** @param depth how many authorities may be below it; default: any number */
  issueAuthority(name: string, depth?: number): Authority {
    const length = depth === undefined ? '' : `,pathlen:${depth}`;
    const extensions = AUTHORITY.replace('CA:TRUE', `CA:TRUE${length}`);
    const baseName = this.#fixture.sign(this.own, name, { extensions });
    return new Authority(this.#fixture, this.#fixture.read(baseName), baseName);
  }

  /**
   * Writes the list of revoked certificates.
   * @param validSeconds the time until the list expires
   * @returns its path, the same at each call
   */
  writeRevocations(revoked: readonly Certificate[], validSeconds = 86_400): string {
    const at = (suffix: string): string => join(this.#fixture.directory, `${this.#name}.${suffix}`);
    if (!existsSync(at('index'))) writeFileSync(at('index'), '');
    writeFileSync(
      at('cnf'),
      `[ca]\ndefault_ca=own\n[own]\ndatabase=${at('index')}\ndefault_md=sha256\n`,
    );
    const { certificateFile, keyFile } = this.own;
    const base = `ca -config ${at('cnf')} -cert ${certificateFile} -keyfile ${keyFile}`;
    for (const each of revoked) this.#fixture.openssl(base, `-revoke ${each.certificateFile}`);
    this.#fixture.openssl(base, `-gencrl -crlsec ${validSeconds} -out ${at('crl')}`);
    return at('crl');
  }
}
