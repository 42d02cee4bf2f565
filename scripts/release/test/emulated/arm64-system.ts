/**
 * A Debian for arm64 whose programs qemu runs, in namespaces of its own: its kernel's table of foreign programs (binfmt_misc)
 * is private to its user namespace, which Linux allows since 6.7, so other programs of this machine see nothing of it.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

import { succeed } from '../../../../agent/test/systems/commands.ts';
import { findDescendant } from '../../../../agent/test/systems/processes.ts';
import { findMirror } from '../../../../agent/test/systems/trees.ts';

const FORMAT = '/usr/lib/binfmt.d/qemu-aarch64.conf';

/** Every user id of the machine, unchanged. */
const ALL_IDS = '0 0 65536';

const BUILD_TIMEOUT_MS = 10 * 60_000;

/** Emulation takes some thirty times as long. */
const RUN_TIMEOUT_MS = 5 * 60_000;

/** Returns why it cannot run here, with the fix; null when it can. */
export function findMissingEmulation(): string | null {
  if (process.getuid?.() !== 0) return 'needs root';
  if (process.arch !== 'x64') return 'emulates arm64 on x64';
  if (!existsSync(FORMAT)) return 'needs qemu-user-static: apt-get install qemu-user-static';
  for (const program of ['debootstrap', 'dpkg-deb']) {
    if (spawnSync(program, ['--version']).error !== undefined) return `needs ${program}`;
  }
  const mount = 'mount -t binfmt_misc none /proc/sys/fs/binfmt_misc';
  const own = ['--user', '--map-root-user', '--mount', 'sh', '-c', mount];
  return spawnSync('unshare', own).status === 0 ? null : 'needs Linux 6.7 or newer';
}

export class Arm64System implements AsyncDisposable {
  readonly #holder: ChildProcess;
  readonly #folder: string;
  readonly #pid: number;

  private constructor(holder: ChildProcess, folder: string, pid: number) {
    this.#holder = holder;
    this.#folder = folder;
    this.#pid = pid;
  }

  /** @param packages Debian packages, whose files are unpacked; their scripts are not run */
  static async open(packages: readonly string[]): Promise<Arm64System> {
    const tree = await findTree();
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-arm64-'));
    const own = ['--user', '--mount', '--pid', '--fork', '--kill-child=SIGKILL'];
    // The shell gets the rights of root when it starts another one, after its ids are mapped.
    const hold = ['sh', '-c', 'read -r _; exec sh -s'];
    const holder = spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', ...own, ...hold], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const pid = await waitForInit(holder);
    await writeFile(`/proc/${pid}/uid_map`, ALL_IDS);
    await writeFile(`/proc/${pid}/gid_map`, ALL_IDS);
    holder.stdin.write(`start\n${renderSetup(tree, folder, packages)}`);
    const [ready]: unknown[] = await Promise.race([
      once(holder.stdout, 'data'),
      once(holder, 'exit').then(([code]: unknown[]) =>
        Promise.reject(new Error(`exit ${String(code)}`)),
      ),
    ]);
    if (String(ready) !== 'ready\n') throw new Error(String(ready));
    return new Arm64System(holder, folder, pid);
  }

  /**
   * Returns the command that runs a program.
   * @param id of a user and its group: `chroot` would look up a name in this machine's files, too
   */
  command(id: number, ...program: readonly string[]): string[] {
    const enter = ['nsenter', '-t', String(this.#pid), '-U', '-m', '-p', '-S', '0', '-G', '0'];
    return [...enter, 'chroot', `--userspec=${id}:${id}`, `${this.#folder}/root`, ...program];
  }

  /** @returns its standard output @throws Error with its output when it fails */
  run(id: number, program: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
    const options = { env: { PATH: process.env['PATH'], ...env }, timeoutMs: RUN_TIMEOUT_MS };
    return succeed(this.command(id, ...program), options);
  }

  /** Ends every program of the system. */
  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#holder, 'exit');
    // The end of the first process of the namespace ends all others.
    process.kill(this.#pid, 'SIGKILL');
    await ended;
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Changes go to a disk in memory. */
function renderSetup(tree: string, folder: string, packages: readonly string[]): string {
  const root = `${folder}/root`;
  return [
    'set -e',
    `mount -t tmpfs -o mode=0755 tmpfs '${folder}'`,
    `mkdir '${folder}/upper' '${folder}/work' '${root}'`,
    `mount -t overlay -o 'lowerdir=${tree},upperdir=${folder}/upper,workdir=${folder}/work' overlay '${root}'`,
    ...packages.map((path) => `dpkg-deb --extract '${path}' '${root}'`),
    // A namespace whose /proc is partly covered may mount no other one, so this comes first.
    `mount -t proc proc '${root}/proc'`,
    'mount -t binfmt_misc none /proc/sys/fs/binfmt_misc',
    `cat ${FORMAT} >/proc/sys/fs/binfmt_misc/register`,
    `mount --rbind /dev '${root}/dev'`,
    'echo ready',
    // The kernel forgets the signal of --kill-child when a shell gets the rights of root.
    'exec setpriv --pdeathsig KILL sleep infinity\n',
  ].join('\n');
}

async function waitForInit(holder: ChildProcess): Promise<number> {
  for (;;) {
    const pid = findDescendant(holder.pid ?? 0, ({ innermostPid }) => innermostPid === 1);
    if (pid !== null && (await readFile(`/proc/${pid}/comm`, 'utf8')) === 'sh\n') return pid;
    if (holder.exitCode !== null) throw new Error(`unshare ended with ${holder.exitCode}`);
  }
}

/** The files of a minimal Debian, which are unpacked and not configured: that would run a thousand emulated programs. */
async function findTree(): Promise<string> {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const path = join(cache, 'latchkey', 'systems', 'bookworm-arm64');
  if (existsSync(path)) return path;
  const unfinished = `${path}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  const what = ['--force-check-gpg', '--foreign', '--arch=arm64', '--variant=minbase', 'bookworm'];
  await succeed(['debootstrap', ...what, unfinished, await findMirror()], {
    timeoutMs: BUILD_TIMEOUT_MS,
  });
  // In a container, debootstrap links it to itself.
  await rm(join(unfinished, 'proc'), { recursive: true });
  await mkdir(join(unfinished, 'proc'));
  await writeFile(join(unfinished, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
  await writeFile(join(unfinished, 'etc/group'), 'root:x:0:\n');
  await rename(unfinished, path);
  return path;
}
