/** Podman, for tests of the image. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import type { TarEntry } from '../../../agent/src/system/tar.ts';
import { repository } from '../../lib/steps.ts';
import type { Architecture } from '../../package/locked-packages.ts';
import { loadDebianPackages } from '../../package/image/debian-packages.ts';
import { collectImageTree } from '../../package/image/image-tree.ts';
import { packImage } from '../../package/image/pack-image.ts';
import { readVersion } from '../version.ts';

const execute = promisify(execFile);

/** Building copies 200 MB, beside other work. */
const COMMAND_TIMEOUT_MS = 300_000;

export const ownArch: Architecture = process.arch === 'arm64' ? 'arm64' : 'x64';

/** The base of the images that stand in for official ones. */
const BASE = 'docker.io/library/debian:trixie-slim';

/** The read-only root, no capabilities and no new privileges, as deploy/compose.yaml sets them. */
export const RESTRICTED = ['--read-only', '--cap-drop=all', '--security-opt=no-new-privileges'];

/** Also in a container: crun of Debian 12 needs more of the kernel, and a process cannot raise its own limits. */
const CONFIGURATION = `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
${existsSync('/usr/sbin/runc') ? 'runtime = "runc"' : ''}
`;

/** The variables of podman and of what starts it. */
export const containerVariables: NodeJS.ProcessEnv = {
  ...process.env,
  CONTAINERS_CONF: writeConfiguration(),
};

function writeConfiguration(): string {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-podman-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'containers.conf'), CONFIGURATION);
  return join(folder, 'containers.conf');
}

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
  return findMissingPackages(ownArch);
}

/** Why the image cannot be built here; false if it can. Debian's archive may not be reachable, or no longer have the versions. */
export async function findMissingPackages(arch: Architecture): Promise<string | false> {
  try {
    await loadDebianPackages(repository, arch);
    return false;
  } catch (error) {
    return `needs the packages of Debian in the image: ${String(error)}`;
  }
}

/** Runs podman to its end, whatever its exit code. */
export function podman(...args: readonly string[]): Promise<Finished> {
  return attempt('podman', args);
}

/** Runs a program that may start podman to its end, whatever its exit code. */
export async function attempt(
  program: string,
  args: readonly string[],
  cwd = process.cwd(),
): Promise<Finished> {
  try {
    const limits = { timeout: COMMAND_TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
    const options = { ...limits, cwd, env: containerVariables };
    return { code: 0, ...(await execute(program, [...args], options)) };
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

/** Loads the image that `npm run release` writes, under a name of its own. @param entries its root directory */
export async function loadImage(
  root: string,
  name: string,
  entries: readonly TarEntry[],
): Promise<void> {
  const version = await readVersion(root);
  const { content } = await packImage(root, { version, arch: ownArch, entries, name });
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-image-'));
  try {
    await writeFile(join(folder, 'image.tar'), content);
    await runPodman('load', '--input', join(folder, 'image.tar'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The root directory of the image for this machine. */
export async function collectOwnImage(root: string): Promise<TarEntry[]> {
  return collectImageTree(root, await readVersion(root), ownArch);
}

/** The arguments of a container with a volume for its data. */
export const withData = (volume: string): readonly string[] => [
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
