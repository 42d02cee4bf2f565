/** A Debian with systemd, booted on a temporary layer over a tree of `trees.ts`. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { attempt, expectSuccess, type Outcome } from './commands.ts';
import { DISK, Sandbox } from './sandbox.ts';
import { findDescendant } from './processes.ts';
import { type Release, treePath } from './trees.ts';

/**
 * The addresses of the machine and of its network. They are for documentation (RFC 5737, RFC 3849): public to the machine, and
 * used by no one.
 */
export const MACHINE_ADDRESS = '203.0.113.2';
export const OUTSIDE_ADDRESS = '203.0.113.1';
const MACHINE_ADDRESS_6 = '2001:db8::2';
const OUTSIDE_ADDRESS_6 = '2001:db8::1';

const BOOT_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 20_000;

const ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  LANG: 'C.UTF-8',
};

/** Where a directory of the host is mounted in the machine, read-only. */
export interface Bind {
  readonly from: string;
  readonly to: string;
}

interface RunOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
  readonly input?: string;
  readonly onOutput?: (text: string) => void;
}

export class Machine implements AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly release: Release;
  readonly #binds: readonly Bind[];
  #nspawn: ChildProcess | null = null;
  #init = 0;

  private constructor(sandbox: Sandbox, release: Release, binds: readonly Bind[]) {
    this.sandbox = sandbox;
    this.release = release;
    this.#binds = binds;
  }

  static async boot(release: Release, binds: readonly Bind[] = []): Promise<Machine> {
    const sandbox = await Sandbox.open();
    try {
      const machine = new Machine(sandbox, release, binds);
      await machine.#layDisk();
      await machine.start();
      return machine;
    } catch (error) {
      await sandbox[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The process id of its systemd on the host. */
  get init(): number {
    return this.#init;
  }

  /** The layer with changes since the first boot, and the tree below it. */
  get layers(): { readonly upper: string; readonly lower: string } {
    return { upper: this.sandbox.outside(`${DISK}/machine/upper`), lower: treePath(this.release) };
  }

  /** Boots it, the first time or again. */
  async start(): Promise<void> {
    const binds = this.#binds.map(({ from, to }) => `--bind-ro=${from}:${to}`);
    const network = ['--network-veth', '--resolv-conf=off', '--timezone=off'];
    const image = ['-D', `${DISK}/machine/root`, '-M', 'watched'];
    // The host may have no systemd that could register machines.
    const plain = ['--register=no', '--keep-unit', '--console=pipe'];
    this.#nspawn = this.sandbox.start(
      ['systemd-nspawn', ...image, ...plain, ...network, ...binds, '--boot'],
      'console.log',
    );
    await this.#waitForBoot(this.#nspawn);
    await this.#connect();
  }

  /** Powers it off as its own `poweroff` does; its disk stays. */
  async stop(): Promise<void> {
    const nspawn = this.#nspawn;
    if (nspawn === null) return;
    const ended = once(nspawn, 'exit', { signal: AbortSignal.timeout(STOP_TIMEOUT_MS) });
    // systemd(1): SIGRTMIN+4 powers off. nspawn itself is never killed: the machine would continue.
    await attempt(['kill', '-RTMIN+4', String(this.#init)]);
    await ended;
    this.#nspawn = null;
  }

  /** Runs a command in the machine, whatever its exit code. */
  attempt(command: readonly string[], { env = {}, ...options }: RunOptions = {}): Promise<Outcome> {
    const enter = ['nsenter', '-t', String(this.#init), '-m', '-u', '-i', '-n', '-p', '-r', '-w'];
    return attempt([...enter, '--', ...command], { ...options, env: { ...ENVIRONMENT, ...env } });
  }

  /**
   * @throws Error with the end of its output, when it failed
   */
  async succeed(command: readonly string[], options?: RunOptions): Promise<string> {
    return expectSuccess(await this.attempt(command, options)).stdout;
  }

  /** Returns the path of a file of its disk on the host: nothing below /run, /tmp, /proc, /sys or /dev. */
  outside(path: string): string {
    return this.sandbox.outside(join(DISK, 'machine/root', path));
  }

  write(path: string, text: string, mode = 0o644): void {
    mkdirSync(dirname(this.outside(path)), { recursive: true });
    writeFileSync(this.outside(path), text, { mode });
  }

  read(path: string): string {
    return readFileSync(this.outside(path), 'utf8');
  }

  readIfThere(path: string): string | null {
    return existsSync(this.outside(path)) ? this.read(path) : null;
  }

  /** Waits until a unit is in a state, such as `active` or `failed`. */
  async waitForUnit(unit: string, state: string, timeoutMs = 15_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const { stdout } = await this.attempt(['systemctl', 'is-active', unit]);
      if (stdout.trim() === state) return;
      if (performance.now() > deadline) throw new Error(`${unit} is ${stdout.trim()}`);
      await sleep(50);
    }
  }

  /** Kills it at once, like a power failure. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.sandbox[Symbol.asyncDispose]();
  }

  async #layDisk(): Promise<void> {
    const own = `${DISK}/machine`;
    await this.sandbox.succeed(['mkdir', '-p', `${own}/upper`, `${own}/work`, `${own}/root`]);
    const layers = `lowerdir=${treePath(this.release)},upperdir=${own}/upper,workdir=${own}/work`;
    await this.sandbox.succeed(['mount', '-t', 'overlay', 'overlay', '-o', layers, `${own}/root`]);
    this.write('/etc/hostname', 'watched\n');
    this.write('/etc/hosts', '127.0.0.1 localhost\n::1 localhost\n127.0.1.1 watched\n');
    this.write('/etc/resolv.conf', `nameserver ${OUTSIDE_ADDRESS}\n`);
  }

  async #waitForBoot(nspawn: ChildProcess): Promise<void> {
    const deadline = performance.now() + BOOT_TIMEOUT_MS;
    let state = '';
    while (!/^(running|degraded)$/.test(state)) {
      if (performance.now() > deadline || nspawn.exitCode !== null) {
        const output = await this.sandbox.succeed(['tail', '-n', '20', `${DISK}/console.log`]);
        throw new Error(`${this.release} did not boot: ${state}\n${output}`);
      }
      await sleep(25);
      this.#init = findDescendant(nspawn.pid ?? 0, (status) => status.innermostPid === 1) ?? 0;
      if (this.#init === 0) continue;
      state = (await this.attempt(['systemctl', 'is-system-running'])).stdout.trim();
    }
  }

  async #connect(): Promise<void> {
    const [found] = /ve-[^:@]+/.exec(await this.sandbox.succeed(['ip', '-o', 'link'])) ?? [];
    if (found === undefined) throw new Error('The machine has no network.');
    const sides = [
      [['ip'], found, OUTSIDE_ADDRESS, OUTSIDE_ADDRESS_6],
      [
        ['nsenter', '-t', String(this.#init), '-n', 'ip'],
        'host0',
        MACHINE_ADDRESS,
        MACHINE_ADDRESS_6,
      ],
    ] as const;
    for (const [ip, device, address, address6] of sides) {
      const run = ip.length === 1 ? this.sandbox.succeed.bind(this.sandbox) : runOutside;
      await run([...ip, 'address', 'add', `${address}/24`, 'dev', device]);
      await run([...ip, 'address', 'add', `${address6}/64`, 'dev', device, 'nodad']);
      await run([...ip, 'link', 'set', device, 'up']);
    }
  }
}

async function runOutside(command: readonly string[]): Promise<string> {
  return expectSuccess(await attempt(command)).stdout;
}
