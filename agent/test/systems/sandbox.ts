/**
 * Namespaces for a machine and its servers: processes, mounts and network. Their first process ends with the one that opened
 * them, however that ends; the kernel then ends every other process there, and drops the mounts and the network. So nothing is
 * left behind, and nothing there reaches another network.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { hasProcesses, createGroups, removeGroup } from './cgroups.ts';
import { attempt, expectSuccess, type Outcome } from './commands.ts';
import { findDescendant } from './processes.ts';

/** The environment of programs. */
const ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  LC_ALL: 'C.UTF-8',
};

/** An empty disk in memory, visible only within the sandbox. */
export const DISK = '/run';

const END_TIMEOUT_MS = 10_000;

export class Sandbox implements AsyncDisposable {
  readonly #holder: ChildProcess;
  readonly #groups: readonly string[];
  /** On the host. */
  readonly pid: number;

  private constructor(holder: ChildProcess, pid: number, groups: readonly string[]) {
    this.#holder = holder;
    this.#groups = groups;
    this.pid = pid;
  }

  /** Needs root. */
  static async open(): Promise<Sandbox> {
    const own = ['--mount', '--net', '--pid', '--fork', '--kill-child=SIGKILL', '--mount-proc'];
    const hold = `mount -t tmpfs tmpfs ${DISK} && ip link set lo up && echo ready && exec sleep infinity`;
    const holder = spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', ...own, 'sh', '-c', hold], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: ENVIRONMENT,
    });
    try {
      await Promise.race([once(holder.stdout, 'data'), failOnExit(holder)]);
      holder.stdout.resume();
      const pid = findDescendant(holder.pid ?? 0, (status) => status.innermostPid === 1);
      if (pid === null) throw new Error('The sandbox has no first process.');
      return new Sandbox(holder, pid, createGroups());
    } catch (error) {
      // It would keep this process running.
      holder.kill('SIGKILL');
      throw error;
    }
  }

  /** Returns the path on the host of a path within the sandbox. */
  outside(path: string): string {
    return join(`/proc/${this.pid}/root`, path);
  }

  /** Starts a program in the background, with its output in a file of the disk. */
  start(command: readonly string[], log: string, env: NodeJS.ProcessEnv = {}): ChildProcess {
    const enterGroups = this.#groups
      .map((group) => `echo 0 >'${join(group, 'cgroup.procs')}'; `)
      .join('');
    const script = `${enterGroups}exec "$@" >${join(DISK, log)} 2>&1`;
    const [program = '', ...args] = this.#enter(['sh', '-c', script, 'sh', ...command]);
    return spawn(program, args, { stdio: 'ignore', env: { ...ENVIRONMENT, ...env } });
  }

  attempt(command: readonly string[], input = ''): Promise<Outcome> {
    return attempt(this.#enter(command), { env: ENVIRONMENT, input });
  }

  /**
   * @throws Error with the end of its output, when it failed
   */
  async succeed(command: readonly string[], input?: string): Promise<string> {
    return expectSuccess(await this.attempt(command, input)).stdout;
  }

  /** Runs a program of the host in this network only. */
  attemptInNetwork(command: readonly string[]): Promise<Outcome> {
    const enter = ['nsenter', '-t', String(this.pid), '-n', '--'];
    return attempt([...enter, ...command], { env: ENVIRONMENT });
  }

  #enter(command: readonly string[]): string[] {
    return ['nsenter', '-t', String(this.pid), '-m', '-n', '-p', '--', ...command];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#holder.exitCode !== null || this.#holder.signalCode !== null) return;
    const ended = once(this.#holder, 'exit');
    this.#holder.kill('SIGKILL');
    await ended;
    await this.#waitForEnd();
    for (const group of this.#groups) removeGroup(group);
  }

  /** Its processes have ended once their groups are empty. */
  async #waitForEnd(): Promise<void> {
    const signal = AbortSignal.timeout(END_TIMEOUT_MS);
    while (this.#groups.some(hasProcesses)) await sleep(5, undefined, { signal });
  }
}

async function failOnExit(holder: ChildProcess): Promise<never> {
  const [code]: unknown[] = await once(holder, 'exit');
  throw new Error(`A sandbox could not be opened: unshare ended with ${String(code)}.`);
}
