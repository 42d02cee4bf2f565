/** Podman, for tests of the image. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Building copies 200 MB, beside other work. */
const COMMAND_TIMEOUT_MS = 300_000;

/** The base of deploy/Containerfile. */
const BASE = 'docker.io/library/debian:trixie-slim';

/** The read-only root, no capabilities and no new privileges, as deploy/compose.yaml sets them. */
const RESTRICTED = ['--read-only', '--cap-drop=all', '--security-opt=no-new-privileges'];

/** Also in a container: crun of Debian 12 needs more of the kernel, and a process cannot raise its own limits. */
const RUNTIME = [
  ...(existsSync('/usr/sbin/runc') ? ['--runtime=runc'] : []),
  '--ulimit=nofile=1024:1024',
  '--ulimit=nproc=1024:1024',
];

/** Exit code and output of a command. */
export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Why containers cannot be tested here; false if they can. */
export async function findObstacle(): Promise<string | false> {
  if (process.getuid?.() !== 0) return 'needs root';
  const version = await podman('version').catch(() => null);
  if (version?.code !== 0) return 'needs podman (Debian: apt-get install podman runc debootstrap)';
  return false;
}

/** Runs podman to its end, whatever its exit code. */
export async function podman(...args: readonly string[]): Promise<Finished> {
  try {
    const options = { timeout: COMMAND_TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
    return { code: 0, ...(await execute('podman', [...args], options)) };
  } catch (error) {
    if (!(error instanceof Error && 'stdout' in error && 'stderr' in error)) throw error;
    if (!('code' in error && typeof error.code === 'number')) throw error;
    return { code: error.code, stdout: String(error.stdout), stderr: String(error.stderr) };
  }
}

/** Runs podman. @throws Error when it fails */
export async function runPodman(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await podman(...args);
  if (code !== 0) throw new Error(`podman ${args.join(' ')} failed: ${stderr}`);
  return stdout;
}

/** Creates the base image from Debian's packages, unless there is one: a test needs no registry. */
export async function ensureBase(): Promise<void> {
  if ((await podman('image', 'exists', BASE)).code === 0) return;
  if (!existsSync('/usr/sbin/debootstrap')) return;
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-base-'));
  try {
    const tree = join(directory, 'tree');
    const options = { timeout: COMMAND_TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
    await execute('debootstrap', ['--variant=minbase', 'trixie', tree], options);
    await execute('tar', ['--create', `--file=${directory}/base.tar`, `--directory=${tree}`, '.']);
    await runPodman('import', join(directory, 'base.tar'), BASE);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Builds the image of a folder with the service. @param tree its path in the repository */
export async function buildImage(repository: string, tree: string, tag: string): Promise<void> {
  const file = `--file=${repository}/deploy/Containerfile`;
  const options = ['--format=docker', `--build-arg=TREE=${tree}`, `--tag=${tag}`];
  await runPodman('build', ...RUNTIME, ...options, file, repository);
}

/** The arguments of a container with a volume for its data. */
export const withData = (volume: string): readonly string[] => [
  ...RUNTIME,
  ...RESTRICTED,
  `--volume=${volume}:/var/lib/latchkey`,
];

/** Waits until a service answers that it is ready. @param name of its container, for its log */
export async function untilReady(origin: string, name: string): Promise<void> {
  const deadline = Date.now() + 120_000;
  while (!(await isReady(origin))) {
    if (Date.now() > deadline) {
      const { stdout, stderr } = await podman('logs', name);
      throw new Error(`the service is not ready: ${stdout}${stderr}`);
    }
    await sleep(100);
  }
}

async function isReady(origin: string): Promise<boolean> {
  try {
    return (await fetch(`${origin}/api/v1/health/ready`)).ok;
  } catch {
    // It does not listen yet.
    return false;
  }
}
