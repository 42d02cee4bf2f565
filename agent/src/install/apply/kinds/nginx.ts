// Checks and reloads nginx.
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';

import { writeFile } from '../../../system/write-file.ts';
import { snippets } from '../../nginx/includes.ts';
import { paths } from '../../paths.ts';
import type { NginxStep } from '../../steps.ts';
import { locate, type Machine, mustRun, succeeds } from '../machine.ts';
import {
  atNginxDirectory,
  captureNginxDirectory,
  type StepContext,
  type StepKind,
  waitUntil,
} from '../step-kind.ts';
import { createParents } from './file.ts';

/** The paths that nginx reads outside of its own directory. */
const READ = [
  dirname(paths.nginxServer),
  dirname(paths.nginxRoute),
  '/etc/letsencrypt/live/',
  dirname(paths.authorityCertificate),
  paths.certificate,
];

const READER = 'nginx';

/** A reload returns before the new workers run; a failed one keeps the old workers. */
const RELOAD_WAIT = { timeoutMs: 20_000, pauseMs: 100 };

const EMPTY =
  '# Left empty by latchkey-agent uninstall: a file still includes this one, and nginx would not start without it.\n';

const PROBE_WAIT = { timeoutMs: 5_000, pauseMs: 200 };

export const nginx: StepKind<NginxStep> = {
  describe: () => 'Check and reload nginx',
  findSubject: () => ({}),

  async isSatisfied(_step, context) {
    return !readsChanges(context) && (await isActive(context));
  },

  async capture(_subject, context) {
    const state = (await isActive(context)) ? ['active'] : [];
    return { paths: [], facts: { state, ...captureNginxDirectory(context) } };
  },

  async apply({ probesRoute }, context) {
    await check(context);
    await reload(context);
    if (probesRoute) await probe(context);
    context.changed.markNotified(READER);
    return {};
  },

  // nginx is reloaded in afterUndo, because its files are restored after this.
  async undo() {},
  describeUndo: () => 'Reload nginx',

  async afterUndo(entry, around) {
    const context = atNginxDirectory(entry, around);
    const { before } = entry;
    const isInstalled = await succeeds(context, ['nginx', '-v']);
    if (!isInstalled) return;
    if (before.facts['state']?.includes('active') !== true && (await isActive(context))) {
      await mustRun(context, 'nginx could not be stopped:', ['systemctl', 'stop', 'nginx']);
    } else if (readsChanges(context)) {
      await replaceMissingSnippets(context);
      if (!(await isActive(context))) return;
      await mustRun(context, 'nginx rejects its configuration:', ['nginx', '-t']);
      await reload(context);
    }
  },
};

function readsChanges({ changed, services }: StepContext): boolean {
  const read = [`${services.nginxDirectory}/`, ...READ];
  return changed.since(READER).some((path) => read.some((prefix) => path.startsWith(prefix)));
}

/**
 * Creates an empty snippet where a file outside of nginx's directory still includes it: without it nginx would not start at the
 * next boot, and all sites would be down.
 */
async function replaceMissingSnippets(context: StepContext): Promise<void> {
  for (const path of snippets) {
    if (existsSync(locate(context, path))) continue;
    const { code, stderr } = await context.runProgram('nginx', ['-t']);
    if (code === 0 || !stderr.includes(`open() "${path}" failed`)) continue;
    createParents(context, path);
    const owner = { mode: 0o644, uid: context.ownerId, gid: context.ownerId };
    writeFile(locate(context, path), EMPTY, owner);
    const line = stderr.split('\n').find((each) => each.includes(path)) ?? '';
    context.report(
      `${path} is left as an empty file, because nginx would not start without it: remove its include, then the file. (${line.trim()})`,
    );
  }
}

/** A conflicting server name is only a warning of nginx, yet one of the two blocks never answers. */
async function check(context: StepContext): Promise<void> {
  const { stderr } = await mustRun(context, 'nginx rejects the configuration:', ['nginx', '-t']);
  const { nginxWarnings, domain } = context.services;
  const [conflict] = findFatalWarnings(nginxWarnings, stderr.split('\n'), domain);
  if (conflict === undefined) return;
  throw new Error(`nginx would ignore one of two server blocks of ${domain}: ${conflict}`);
}

async function reload(context: StepContext): Promise<void> {
  const failure = 'nginx could not load its new configuration:';
  if (await isUnitActive(context)) {
    const before = await listWorkers(context);
    await mustRun(context, failure, ['systemctl', 'reload', 'nginx']);
    await waitForWorkers(before, context);
  } else if (await isMasterRunning(context)) {
    await mustRun(context, failure, ['nginx', '-s', 'reload']);
  } else {
    await mustRun(context, 'nginx could not be started:', ['systemctl', 'start', 'nginx']);
  }
}

/** Returns the worker processes that accept connections; those that shut down have another title. */
async function listWorkers(machine: Machine): Promise<readonly string[]> {
  const show = ['show', '--property=MainPID', '--value', 'nginx'];
  const master = (await machine.runProgram('systemctl', show)).stdout.trim();
  if (!/^[1-9]\d*$/u.test(master)) return [];
  const which = ['--parent', master, '--full', '^nginx: worker process[[:space:]]*$'];
  const { stdout } = await machine.runProgram('pgrep', which);
  return stdout.split('\n').filter((line) => line !== '');
}

/** Waits until new workers answer, which takes seconds with many sites; until then challenges fail. */
async function waitForWorkers(before: readonly string[], context: StepContext): Promise<void> {
  if (before.length === 0) return;
  const isReplaced = async () => {
    const now = await listWorkers(context);
    return now.length > 0 && !now.some((worker) => before.includes(worker));
  };
  await waitUntil(context, isReplaced, RELOAD_WAIT);
}

async function isActive(machine: Machine): Promise<boolean> {
  return (await isUnitActive(machine)) || (await isMasterRunning(machine));
}

async function isUnitActive(machine: Machine): Promise<boolean> {
  return succeeds(machine, ['systemctl', 'is-active', '--quiet', 'nginx']);
}

/** nginx may have been started without systemd. */
async function isMasterRunning(machine: Machine): Promise<boolean> {
  return succeeds(machine, ['pgrep', '-f', '^nginx: master process']);
}

async function probe(context: StepContext): Promise<void> {
  let problem: string | null = null;
  const isHealthy = async () => (problem = await context.services.probeProxy()) === null;
  if (!(await waitUntil(context, isHealthy, PROBE_WAIT))) throw new Error(problem ?? '');
}

/**
 * Finds new warnings of `nginx -t` about a server block that will never answer, because another one has its name.
 * @returns the lines
 */
export function findFatalWarnings(
  before: readonly string[],
  after: readonly string[],
  domain: string,
): readonly string[] {
  const known = new Set(before.map(readMessage));
  return after.filter(
    (line) => line.includes(`conflicting server name "${domain}"`) && !known.has(readMessage(line)),
  );
}

/** Returns a warning without its time and process number. */
function readMessage(line: string): string {
  return line.slice(Math.max(0, line.indexOf('[warn]'))).trim();
}
