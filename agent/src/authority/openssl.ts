import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { ProgramOptions, ProgramResult, RunProgram } from '../system/run-program.ts';
import { AuthorityError } from './context.ts';
import { type CertificateRecord, isRevoked, type Register } from './register.ts';

/** Small boards need a second for a key; a disk may be busy. */
const TIMEOUT_MS = 30_000;

/** Certificates become valid this long before their issue, since clocks differ. */
const BACKDATED_MS = 3_600_000;

const DAY_MS = 86_400_000;

const LIST_VALID_MS = 400 * DAY_MS;

/**
 * The whole configuration of openssl, independent of the machine's own. `$ENV::` accepts any path.
 */
const CONFIGURATION = `[ca]
default_ca = own
[own]
database = $ENV::LATCHKEY_WORK/index.txt
serial = $ENV::LATCHKEY_WORK/serial
crlnumber = $ENV::LATCHKEY_WORK/number
new_certs_dir = $ENV::LATCHKEY_WORK
default_md = sha256
policy = names
email_in_dn = no
[names]
organizationName = optional
commonName = supplied
[client]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = clientAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[authority]
basicConstraints = critical,CA:TRUE,pathlen:0
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
[list]
authorityKeyIdentifier = keyid
[req]
distinguished_name = names
prompt = no
`;

/** The signing key and certificate. */
interface Signer {
  readonly keyFile: string;
  /** Null for a self-signed certificate. */
  readonly certificateFile: string | null;
}

/** The authority's own files. */
export interface OwnFiles extends Signer {
  readonly certificateFile: string;
}

/** A certificate to sign. */
interface SigningRequest {
  /** Such as `/CN=anna`. */
  readonly subject: string;
  /** The private key, as PEM. */
  readonly key: string;
  readonly serial: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/**
 * Signs with the program openssl in a private working directory. Its database is written from the register each time, so that the
 * two cannot differ.
 */
export class Openssl implements Disposable {
  readonly #runProgram: RunProgram;
  readonly #work: string;

  /** @param work a private directory, removed on disposal */
  constructor(runProgram: RunProgram, work: string) {
    this.#runProgram = runProgram;
    this.#work = work;
    // A killed process may have left the directory.
    rmSync(work, { recursive: true, force: true });
  }

  [Symbol.dispose](): void {
    rmSync(this.#work, { recursive: true, force: true });
  }

  /**
   * Signs a certificate.
   * @returns it as PEM
   * @throws AuthorityError when openssl is missing or fails
   */
  async sign(request: SigningRequest, { keyFile, certificateFile }: Signer): Promise<string> {
    const key = this.#write('key.pem', request.key);
    const [requestFile, signed] = [this.#at('request.pem'), this.#at('signed.pem')];
    const configuration = this.#prepare([], ['serial', request.serial]);
    const content = ['-key', key, '-subj', request.subject, '-out', requestFile];
    await this.#run(['req', '-new', '-batch', ...configuration, ...content]);
    const issuer =
      certificateFile === null
        ? ['-selfsign', '-extensions', 'authority']
        : ['-cert', certificateFile, '-extensions', 'client'];
    const start = formatTime(new Date(request.issuedAt.getTime() - BACKDATED_MS));
    const times = ['-startdate', start, '-enddate', formatTime(request.expiresAt)];
    const files = ['-keyfile', keyFile, '-in', requestFile, '-out', signed];
    await this.#run(['ca', '-batch', '-notext', ...configuration, ...issuer, ...times, ...files]);
    return readFileSync(signed, 'utf8');
  }

  /**
   * Creates the revocation list of a register.
   * @returns it as PEM
   */
  async listRevoked(
    register: Register,
    { keyFile, certificateFile }: OwnFiles,
    now: Date,
  ): Promise<string> {
    const number = register.revocationsNumber.toString(16).toUpperCase();
    const even = number.padStart(number.length + (number.length % 2), '0');
    const configuration = this.#prepare(register.certificates, ['number', even]);
    const list = this.#at('list.pem');
    const since = formatTime(new Date(now.getTime() - BACKDATED_MS));
    const until = formatTime(new Date(now.getTime() + LIST_VALID_MS));
    const times = (await this.#hasListTimes())
      ? ['-crl_lastupdate', since, '-crl_nextupdate', until]
      : ['-crldays', `${LIST_VALID_MS / DAY_MS}`];
    const files = ['-keyfile', keyFile, '-cert', certificateFile, '-out', list];
    const command = ['ca', '-batch', '-gencrl', '-crlexts', 'list'];
    await this.#run([...command, ...configuration, ...times, ...files]);
    return readFileSync(list, 'utf8');
  }

  /**
   * Reads the number and expiry of a revocation list.
   * @returns null without a list of the authority
   */
  async readList(
    path: string,
    authorityFile: string,
  ): Promise<{ number: number; nextUpdate: Date } | null> {
    const print = ['-noout', '-verify', '-crlnumber', '-nextupdate'];
    const args = ['crl', '-in', path, '-CAfile', authorityFile, ...print];
    const { code, stdout, stderr } = await this.#attempt(args);
    const [, number] = /^crlNumber=(?:0x)?([0-9A-F]+)$/imu.exec(stdout) ?? [];
    const [, end] = /^nextUpdate=(.+)$/mu.exec(stdout) ?? [];
    const isOurs = code === 0 && `${stdout}${stderr}`.includes('verify OK');
    if (!isOurs || number === undefined || end === undefined) return null;
    return { number: Number.parseInt(number, 16), nextUpdate: new Date(end) };
  }

  /**
   * Creates a PKCS#12 file with 3DES and SHA-1: macOS rejects newer algorithms, and OpenSSL 3 older ones.
   */
  async createPkcs12(certificate: string, key: string, name: string, password: string) {
    const [leaf, leafKey] = [this.#write('leaf.pem', certificate), this.#write('leaf.key', key)];
    const bundle = this.#at('bundle.p12');
    const files = ['-in', leaf, '-inkey', leafKey, '-out', bundle];
    const algorithms = ['-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-3DES', '-macalg', 'sha1'];
    const content = ['-name', name, ...algorithms, '-passout', 'stdin'];
    await this.#run(['pkcs12', '-export', ...files, ...content], `${password}\n`);
    return readFileSync(bundle);
  }

  /**
   * Whether openssl accepts the start of a revocation list. OpenSSL 1.1 has no option for it and dates a list from now; only
   * the agent and nginx of this machine read the list, by the same clock, so it is refused only after that clock is set back.
   */
  async #hasListTimes(): Promise<boolean> {
    const { stdout } = await this.#attempt(['version']);
    return /^OpenSSL (?:[3-9]|\d\d)/u.test(stdout);
  }

  #prepare(
    records: readonly CertificateRecord[],
    [file, value]: readonly [string, string],
  ): string[] {
    this.#write('index.txt', records.filter(isRevoked).map(formatRow).join(''));
    this.#write(file, `${value}\n`);
    return ['-config', this.#write('openssl.cnf', CONFIGURATION)];
  }

  #write(name: string, text: string): string {
    mkdirSync(this.#work, { recursive: true, mode: 0o700 });
    const path = this.#at(name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  #at(name: string): string {
    return join(this.#work, name);
  }

  async #run(args: readonly string[], input = ''): Promise<void> {
    const environment = { LATCHKEY_WORK: this.#work };
    const options = { input, environment, timeoutMs: TIMEOUT_MS };
    const { code, fault, stderr } = await this.#attempt(args, options);
    if (code === 0) return;
    const lines = stderr.split('\n').map((line) => line.trim());
    const output = lines.filter((line) => line !== '').join('; ');
    throw new AuthorityError(fault ?? `openssl ${args[0]} failed: ${output}`);
  }

  async #attempt(args: readonly string[], options?: ProgramOptions): Promise<ProgramResult> {
    const result = await this.#runProgram('openssl', args, options);
    if (!result.isMissing) return result;
    throw new AuthorityError('openssl is not installed: run "apt install openssl".');
  }
}

/** Formats a row of openssl's database. */
function formatRow({ name, serial, expiresAt, revokedAt }: CertificateRecord): string {
  const revoked = revokedAt === null ? '' : formatTime(revokedAt);
  return `R\t${formatTime(expiresAt)}\t${revoked}\t${serial}\tunknown\t/CN=${name}\n`;
}

/** Formats a time as RFC 5280: `YYMMDDHHMMSSZ` until 2049, then with a four-digit year. */
function formatTime(time: Date): string {
  const digits = `${time.toISOString().slice(0, 19).replaceAll(/\D/gu, '')}Z`;
  return time.getUTCFullYear() < 2050 ? digits.slice(2) : digits;
}
