/** A fake machine for the installer: a directory, and simulated programs that change it. */
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import type { RunContext } from '#agent/install/apply/apply-plan.ts';
import { Changes } from '#agent/install/apply/step-kind.ts';
import { Journal } from '#agent/install/apply/journal.ts';
import { agentUser, paths } from '#agent/install/paths.ts';
import {
  type ProgramResult,
  type RunProgram,
  runProgram as runReal,
} from '#agent/system/run-program.ts';

const ownId = process.getuid?.() ?? 0;
/** A site of another owner, enabled by a link. */
export const OTHER_PATH = '/etc/nginx/sites-available/other';
export const OTHER_SITE = 'server {\n  server_name other.example.test;\n}\n';

/** The state of dpkg, systemd and ufw on the fake machine: a file of lines for each. */
const PACKAGES = '/var/lib/packages';
const UNITS = '/var/lib/units';
const RULES = '/var/lib/rules';

/** apt's transaction log, which an uninstallation leaves. */
const HISTORY = '/var/log/apt/history.log';

const REGISTER = `${paths.authority}/register.json`;
const EMPTY_REGISTER = '[]';

export class FakeHost implements Disposable {
  readonly root: string;
  readonly calls: string[] = [];
  readonly reports: string[] = [];
  readonly progress: string[] = [];
  /** Replaces the result of a program; null runs the simulation. */
  intercept: (command: string, count: number) => Partial<ProgramResult> | null = () => null;
  nginxDirectory = '/etc/nginx';
  checkInterruption: () => void = () => undefined;
  challengeProblem: string | null = null;
  keepsCertificate: (name: string) => boolean = () => true;

  constructor(root: string | null = null) {
    this.root = root ?? mkdtempSync(join(tmpdir(), 'latchkey-agent-host-'));
    if (root === null) this.#createFiles();
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  write(path: string, text: string, mode = 0o644): void {
    mkdirSync(dirname(this.at(path)), { recursive: true });
    writeFileSync(this.at(path), text, { mode });
  }

  read(path: string): string {
    return readFileSync(this.at(path), 'utf8');
  }

  has(path: string): boolean {
    return lstatSync(this.at(path), { throwIfNoEntry: false }) !== undefined;
  }

  at(path: string): string {
    return join(this.root, path);
  }

  /** Returns every file, directory and link with its mode and a digest of its content. */
  snapshot(): Record<string, string> {
    return Object.fromEntries(
      this.#listNames().map((name) => [name, describe(join(this.root, name))]),
    );
  }

  /** Returns the time of the last change of each path. */
  times(): Record<string, number> {
    return Object.fromEntries(
      this.#listNames().map((name) => [name, lstatSync(this.at(name)).mtimeMs]),
    );
  }

  /** Installs packages as an administrator would, during or after an installation. */
  installPackages(commandLine: string, names: readonly string[]): void {
    for (const each of names) this.#setLine(PACKAGES, each, true);
    this.#logTransaction(commandLine, names);
  }

  open(): RunContext {
    const machine = { root: this.root, ownerId: ownId, runProgram: this.runProgram };
    const journal = new Journal(machine);
    return {
      ...machine,
      journal,
      backups: journal.backups,
      changed: new Changes(),
      report: (sentence) => this.reports.push(sentence),
      checkInterruption: () => this.checkInterruption(),
      progress: {
        begin: () => undefined,
        end: (title, isDone) => this.progress.push(`${isDone ? 'done' : 'holds'}: ${title}`),
        failed: (reason) => this.progress.push(`failed: ${reason}`),
      },
      services: {
        domain: 'monitor.example.test',
        sleep: async () => undefined,
        now: () => new Date(),
        nginxDirectory: this.nginxDirectory,
        nginxWarnings: [],
        checkChallenge: async () => this.challengeProblem,
        keepsCertificate: (name) => this.keepsCertificate(name),
        probeProxy: async () => null,
        ensureAuthority: async () => {
          this.write(`${paths.authority}/ca.key`, 'secret', 0o600);
          this.write(paths.authorityCertificate, 'certificate');
          if (!this.has(REGISTER)) this.write(REGISTER, EMPTY_REGISTER, 0o600);
        },
        isAuthorityReady: async () => this.has(paths.authorityCertificate),
        // The simulated register is a list of names.
        hasIssuedSince: (earlier) =>
          this.has(REGISTER) && this.read(REGISTER) !== (earlier ?? EMPTY_REGISTER),
      },
      isUninstallation: false,
    };
  }

  readonly runProgram: RunProgram = async (program, args, options) => {
    const command = [program, ...args].join(' ');
    this.calls.push(command);
    const answer = this.intercept(command, this.calls.length);
    const result = { code: 0, stdout: '', stderr: '', fault: null, isMissing: false };
    if (answer !== null) return { ...result, ...answer };
    if (program === 'openssl') return createSelfSigned(args);
    if (program === 'diff') return runReal(program, args, options);
    const done = this.#simulate(program, args);
    return typeof done === 'boolean'
      ? { ...result, code: done ? 0 : 1 }
      : { ...result, stdout: done };
  };

  /** @returns the output of the program, or whether it succeeded */
  #simulate(program: string, args: readonly string[]): string | boolean {
    const verb = args.find((each) => !each.startsWith('-')) ?? '';
    switch (program) {
      case 'dpkg-query':
        return this.#readLines(PACKAGES)
          .map((each) => `${each}\tinstalled\n`)
          .join('');
      case 'apt-get':
        return this.#runAptGet(args);
      case 'apt-config':
        return `H='${HISTORY}'\n`;
      case 'apt-mark':
        return 'base\ncertbot\n';
      case 'useradd':
        appendFileSync(this.at('/etc/passwd'), `${agentUser}:x:999:999::/nonexistent:\n`);
        appendFileSync(this.at('/etc/group'), `${agentUser}:x:${process.getgid?.() ?? 0}:\n`);
        return true;
      case 'userdel':
        for (const file of ['/etc/passwd', '/etc/group']) this.#removeUser(file);
        return true;
      case 'systemctl':
        return this.#runSystemctl(verb, args.at(-1) ?? '');
      case 'certbot':
        return this.#runCertbot(verb, args);
      case 'ufw':
        return this.#runUfw(verb, args);
      default:
        return program !== 'pgrep';
    }
  }

  #removeUser(file: string): void {
    const kept = this.#readLines(file).filter((line) => !line.startsWith(agentUser));
    writeFileSync(this.at(file), kept.map((line) => `${line}\n`).join(''));
  }

  #runUfw(verb: string, args: readonly string[]): string | boolean {
    if (verb === 'show') return this.#readLines(RULES).join('\n');
    const port = args.find((each) => each.endsWith('/tcp')) ?? '';
    this.#setLine(RULES, `ufw allow ${port}`, verb === 'allow');
    return true;
  }

  #runAptGet(args: readonly string[]): string | boolean {
    const [verb = '', ...names] = args.filter((each) => !each.startsWith('-'));
    if (verb === 'check') return true;
    const isSimulated = args.includes('--simulate');
    if (verb !== 'install') {
      if (isSimulated) return names.map((each) => `Purg ${each} [1]\n`).join('');
      if (names.includes('certbot') && verb === 'purge') this.#purgeCertbot();
      for (const each of names) this.#setLine(PACKAGES, each, false);
      return true;
    }
    // Each package has a dependency.
    const all = names.flatMap((each) => [each, `python3-${each}`]);
    const missing = all.filter((each) => !this.#readLines(PACKAGES).includes(each));
    if (isSimulated) return missing.map((each) => `Inst ${each} (1 Debian [all])\n`).join('');
    if (args.includes('--download-only')) return true;
    this.installPackages(['apt-get', ...args].join(' '), missing);
    this.write('/etc/letsencrypt/cli.ini', '');
    return true;
  }

  #logTransaction(commandLine: string, names: readonly string[]): void {
    if (names.length === 0) return;
    const list = names.map((each) => `${each}:amd64 (1)`).join(', ');
    const text = `\nStart-Date: 2027-01-01  00:00:00\nCommandline: ${commandLine}\nInstall: ${list}\n`;
    this.write(HISTORY, (this.has(HISTORY) ? this.read(HISTORY) : '') + text);
  }

  /** Simulates the `postrm` script of Debian's package. */
  #purgeCertbot(): void {
    const live = this.at('/etc/letsencrypt/live');
    const names = existsSync(live) ? readdirSync(live) : [];
    if (names.every((name) => name === 'README')) {
      rmSync(this.at('/etc/letsencrypt'), { recursive: true, force: true });
    }
    rmSync(this.at('/var/log/letsencrypt'), { recursive: true, force: true });
  }

  #listNames(): string[] {
    const names = readdirSync(this.root, { recursive: true, encoding: 'utf8' });
    return names.filter((name) => !`/${name}/`.startsWith(`${dirname(HISTORY)}/`)).sort();
  }

  #runSystemctl(verb: string, unit: string): string | boolean {
    const [active, enabled] = [`active ${unit}`, `enabled ${unit}`];
    const states = this.#readLines(UNITS);
    if (verb === 'is-active') return states.includes(active) ? 'active' : false;
    if (verb === 'is-enabled') return states.includes(enabled);
    if (verb === 'enable' || verb === 'disable') this.#setLine(UNITS, enabled, verb === 'enable');
    if (verb === 'restart' || verb === 'start') this.#setLine(UNITS, active, true);
    if (verb === 'stop') this.#setLine(UNITS, active, false);
    return true;
  }

  #runCertbot(verb: string, args: readonly string[]): boolean {
    const name = args[args.indexOf('--cert-name') + 1] ?? '';
    const [live, renewal] = [
      `/etc/letsencrypt/live/${name}`,
      `/etc/letsencrypt/renewal/${name}.conf`,
    ];
    if (verb === 'certificates') return true;
    if (verb === 'delete') {
      // certbot cannot delete a certificate whose creation was interrupted.
      if (!this.has(live)) return false;
      rmSync(this.at(live), { recursive: true });
      rmSync(this.at(renewal));
      return true;
    }
    this.write(renewal, 'authenticator = standalone\naccount = 1\n');
    this.write('/etc/letsencrypt/csr/0000_csr-certbot.pem', 'request');
    this.write('/var/log/letsencrypt/letsencrypt.log', 'log');
    mkdirSync(this.at('/var/lib/letsencrypt/backups'), { recursive: true });
    this.write(`/etc/letsencrypt/accounts/acme.test/dir/1/regr.json`, '{}');
    const certificate = readFileSync(
      new URL('fixtures/installed-certificate.pem', import.meta.url),
    );
    this.write(`${live}/fullchain.pem`, certificate.toString());
    return true;
  }

  #readLines(path: string): string[] {
    const text = existsSync(this.at(path)) ? this.read(path) : '';
    return text.split('\n').filter((line) => line !== '');
  }

  #setLine(path: string, line: string, isPresent: boolean): void {
    const others = this.#readLines(path).filter((each) => each !== line);
    const lines = isPresent ? [...others, line] : others;
    this.write(
      path,
      lines
        .sort()
        .map((each) => `${each}\n`)
        .join(''),
    );
  }

  #createFiles(): void {
    this.write('/etc/passwd', 'root:x:0:0::/root:\n');
    this.write('/etc/group', 'root:x:0:\n');
    this.write(PACKAGES, 'base\n');
    this.write(UNITS, 'active nginx\n');
    this.write(RULES, '');
    this.write(OTHER_PATH, OTHER_SITE, 0o640);
    mkdirSync(this.at('/etc/nginx/sites-enabled'));
    symlinkSync('../sites-available/other', this.at('/etc/nginx/sites-enabled/other'));
    mkdirSync(this.at('/usr/lib'), { recursive: true });
    mkdirSync(this.at('/etc/systemd/system'), { recursive: true });
    mkdirSync(this.at('/var/log'), { recursive: true });
  }
}

/** The outputs of `openssl req` by the arguments other than paths. */
const selfSigned = new Map<string, readonly [certificate: Buffer, key: Buffer]>();

/** Creates a certificate with openssl, the same one at each call with the same names: tests install hundreds of times. */
async function createSelfSigned(args: readonly string[]): Promise<ProgramResult> {
  const pathOf = (option: string): string => args[args.indexOf(option) + 1] ?? '';
  const files = [pathOf('-out'), pathOf('-keyout')] as const;
  const request = args.filter((each) => !files.includes(each)).join(' ');
  const known = selfSigned.get(request);
  if (known === undefined) {
    const result = await runReal('openssl', args);
    if (result.code === 0) {
      selfSigned.set(request, [readFileSync(files[0]), readFileSync(files[1])]);
    }
    return result;
  }
  for (const [index, file] of files.entries()) writeFileSync(file, known[index] ?? '');
  return { code: 0, stdout: '', stderr: '', fault: null, isMissing: false };
}

function describe(path: string): string {
  const stats = lstatSync(path);
  const mode = (stats.mode & 0o7777).toString(8);
  if (stats.isSymbolicLink()) return `link ${readlinkSync(path)}`;
  if (stats.isDirectory()) return `folder ${mode}`;
  return `file ${mode} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`;
}
