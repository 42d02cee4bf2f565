import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { AuthorityContext, AuthorityPaths } from '#agent/authority/context.ts';
import { type CreatedClient, createClient, listCertificates } from '#agent/authority/clients.ts';
import { type AuthorityRequest, ensureAuthority } from '#agent/authority/ensure-authority.ts';
import { paths } from '#agent/install/paths.ts';
import { runProgram } from '#agent/system/run-program.ts';

const DAY_MS = 86_400_000;

export const request: AuthorityRequest = {
  domain: 'db-1.example.com',
  address: 'wss://db-1.example.com/latchkey',
  withProxyCertificate: true,
};

/** The files of a bundle. */
interface Unpacked {
  readonly directory: string;
  readonly cert: string;
  readonly key: string;
}

let original: Promise<AuthorityFixture> | null = null;

async function createOriginal(): Promise<AuthorityFixture> {
  const fixture = new AuthorityFixture();
  // Several test files of a process share it.
  process.once('exit', () => fixture[Symbol.dispose]());
  await fixture.ensure();
  return fixture;
}

/** Returns an authority that is ready. All of a process are copies of one, because openssl takes 100 ms to create it. */
export async function copyAuthority(): Promise<AuthorityFixture> {
  original ??= createOriginal();
  const { root, nowMs } = await original;
  const fixture = new AuthorityFixture();
  // cpSync does not copy the modes of directories.
  execFileSync('cp', ['-a', `${root}/.`, fixture.root]);
  fixture.nowMs = nowMs;
  return fixture;
}

/** An authority below a temporary root directory, with a clock that a test sets. */
export class AuthorityFixture implements Disposable, AuthorityContext {
  readonly root = mkdtempSync(join(tmpdir(), 'latchkey-authority-'));
  readonly paths: AuthorityPaths = {
    authority: join(this.root, paths.authority),
    authorityCertificate: join(this.root, paths.authorityCertificate),
    revocations: join(this.root, paths.revocations),
    proxyCertificate: join(this.root, paths.proxyCertificate),
    proxyCertificateKey: join(this.root, paths.proxyCertificateKey),
  };
  readonly output = join(this.root, 'output');
  readonly runProgram = runProgram;
  readonly randomBytes = randomBytes;
  nowMs = Math.floor(Date.now() / 1000) * 1000;
  readonly clock = { now: () => new Date(this.nowMs) };
  #count = 0;

  constructor() {
    mkdirSync(this.output);
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true });
  }

  passDays(days: number): void {
    this.nowMs += days * DAY_MS;
  }

  async ensure(changes: Partial<AuthorityRequest> = {}): Promise<boolean> {
    return ensureAuthority(this, { ...request, ...changes });
  }

  async create(name: string, days = 365): Promise<CreatedClient> {
    return createClient(this, { name, days, output: this.output });
  }

  /** Returns the name and the status of each certificate: `anna valid`. */
  listCertificates(): string[] {
    return listCertificates(this).certificates.map(
      ({ record, status }) => `${record.name} ${status}`,
    );
  }

  /** Unpacks a bundle with tar. */
  unpack({ path, record }: CreatedClient): Unpacked {
    this.#count += 1;
    const to = join(this.root, `unpacked-${this.#count}`);
    mkdirSync(to);
    execFileSync('tar', ['xzf', path, '-C', to]);
    const directory = join(to, record.name);
    const read = (file: string): string => readFileSync(join(directory, file), 'utf8');
    return { directory, cert: read('client.pem'), key: read('client.key') };
  }

  /** Verifies a client certificate with openssl at the time of the clock: `OK`, or openssl's error. */
  verify(file: string): string {
    const { authorityCertificate, revocations } = this.paths;
    const checks = ['-crl_check', '-purpose', 'sslclient', '-attime', `${this.nowMs / 1000}`];
    const known = ['-CAfile', authorityCertificate, '-CRLfile', revocations];
    const args = ['verify', ...checks, ...known, file];
    const { stdout, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
    return /^error \d+ at .*: (?<error>.*)$/mu.exec(stderr)?.groups?.['error'] ?? stdout.trim();
  }

  /** Lists every file below the root with its mode, inode and timestamps. */
  listFiles(): string[] {
    return readdirSync(this.root, { recursive: true, encoding: 'utf8' })
      .filter((file) => statSync(join(this.root, file)).isFile())
      .map((file) => {
        const { ino, mtimeMs, ctimeMs, mode } = statSync(join(this.root, file));
        return `${file} ${(mode & 0o7777).toString(8)} ${ino} ${mtimeMs} ${ctimeMs}`;
      });
  }

  /** Returns the modes of all files. */
  listModes(): Record<string, string> {
    return Object.fromEntries(
      this.listFiles()
        .map((line) => line.split(' '))
        .map(([file = '', mode]) => [file, mode ?? '']),
    );
  }
}
