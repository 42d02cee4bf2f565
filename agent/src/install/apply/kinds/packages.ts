import { readdirSync, rmSync } from 'node:fs';

import type { PackagesStep } from '../../steps.ts';
import { lastLines, locate, type Machine, mustRun, ProgramError } from '../machine.ts';
import { look } from '../path-state.ts';
import type { Entry, StepContext, StepKind } from '../step-kind.ts';

const APT_OPTIONS = [
  '--yes',
  '--quiet',
  // Somebody else's apt, often the daily one, ends by itself within this many seconds.
  '-oDPkg::Lock::Timeout=120',
  '-oDpkg::Options::=--force-confdef',
  '-oDpkg::Options::=--force-confold',
];
const APT_TIMEOUT_MS = 600_000;

/** What certbot leaves that its package may not know of. */
const CERTBOT = 'certbot';
const TRACES = ['/etc/letsencrypt', '/var/lib/letsencrypt', '/var/log/letsencrypt'];

export const packages: StepKind<PackagesStep> = {
  outlivesPlans: true,
  describe: ({ names }) => `Install ${names.join(', ')}`,
  findSubject: () => ({}),

  async holds({ names }, context) {
    const installed = new Set(await listInstalled(context));
    return names.every((name) => installed.has(name));
  },

  async remember(_subject, context) {
    const existing = TRACES.filter((path) => look(locate(context, path)) !== null);
    return { paths: [], facts: { installed: await listInstalled(context), existing } };
  },

  async apply({ names }, context) {
    const before = new Set(await listInstalled(context));
    await install(names, context);
    const added = (await listInstalled(context)).filter((name) => !before.has(name));
    return { added };
  },

  async undo(entry, context) {
    const added = await findAdded(entry, context);
    const others = listRenewals(context);
    if (added.includes(CERTBOT) && others.length > 0) {
      context.tell(`certbot and what came with it stay, for it renews ${others.join(', ')}.`);
      return;
    }
    if (added.length > 0) await purge(added, context);
    removeTraces(entry, await listInstalled(context), context);
  },
};

async function purge(added: readonly string[], context: StepContext): Promise<void> {
  const unneeded = await findUnneeded(added, context);
  const kept = added.filter((name) => !unneeded.includes(name));
  if (kept.length > 0) context.tell(`Other packages need ${kept.join(', ')}, so they stay.`);
  if (unneeded.length === 0) return;
  await mustRun(
    context,
    `Packages could not be removed (${unneeded.join(' ')}):`,
    ['apt-get', 'purge', ...APT_OPTIONS, ...unneeded],
    { timeoutMs: APT_TIMEOUT_MS },
  );
}

async function install(names: readonly string[], context: StepContext): Promise<void> {
  const args = ['install', ...APT_OPTIONS, '--no-install-recommends', ...names];
  const options = { timeoutMs: APT_TIMEOUT_MS };
  const first = await context.runProgram('apt-get', args, options);
  if (first.code === 0) return;
  // The lists of packages may be missing or old: they name files that the mirror no longer has.
  const update = ['update', '--quiet', '-oDPkg::Lock::Timeout=120'];
  const updated = await context.runProgram('apt-get', update, options);
  const second = await context.runProgram('apt-get', args, options);
  if (second.code === 0) return;
  const failure = `${names.join(', ')} could not be installed`;
  if (updated.code !== 0) {
    throw new ProgramError(`${failure}, and the lists of packages not be renewed:`, updated);
  }
  throw new ProgramError(`${failure}:`, second);
}

/** What a step installed and is still there; after a crash, all that was not there before. */
async function findAdded({ before, after }: Entry, context: StepContext): Promise<string[]> {
  if (after === null) {
    // An apt whose installer was killed goes on by itself: this waits for its lock.
    const wait = ['check', '--quiet', '-oDPkg::Lock::Timeout=300'];
    await context.runProgram('apt-get', wait, { timeoutMs: APT_TIMEOUT_MS });
    // A package whose installation was interrupted is none that dpkg would remove.
    await context.runProgram('dpkg', ['--configure', '-a'], { timeoutMs: APT_TIMEOUT_MS });
  }
  const earlier = new Set(before.facts['installed']);
  const now = await listInstalled(context);
  if (after === null) return now.filter((name) => !earlier.has(name));
  const added = new Set(after['added']);
  return now.filter((name) => added.has(name));
}

/** Those that can go without taking a package along that somebody else has installed since. */
async function findUnneeded(added: readonly string[], context: StepContext): Promise<string[]> {
  const isOurs = (names: readonly string[]) => names.every((name) => added.includes(name));
  if (isOurs(await simulatePurge(added, context))) return [...added];
  const unneeded = [];
  for (const name of added) {
    if (isOurs(await simulatePurge([name], context))) unneeded.push(name);
  }
  return unneeded;
}

async function simulatePurge(names: readonly string[], context: Machine): Promise<string[]> {
  const command = ['apt-get', '--simulate', 'purge', ...APT_OPTIONS, ...names];
  const result = await mustRun(context, 'apt-get cannot say what goes with a package:', command);
  return [...result.stdout.matchAll(/^(?:Purg|Remv) (\S+)/gmu)].map(([, name = '']) => name);
}

/** The certificates that certbot renews, ours no longer among them. */
function listRenewals(machine: Machine): string[] {
  const directory = locate(machine, '/etc/letsencrypt/renewal');
  if (look(directory) === null) return [];
  return readdirSync(directory).map((name) => name.replace(/\.conf$/u, ''));
}

function removeTraces({ before }: Entry, installed: readonly string[], context: StepContext): void {
  const { installed: earlier = [], existing = [] } = before.facts;
  if (installed.includes(CERTBOT) || earlier.includes(CERTBOT)) return;
  for (const path of TRACES) {
    if (!existing.includes(path)) rmSync(locate(context, path), { recursive: true, force: true });
  }
}

async function listInstalled(machine: Machine): Promise<string[]> {
  const format = '${Package}\t${db:Status-Status}\n';
  const result = await machine.runProgram('dpkg-query', ['--show', `--showformat=${format}`]);
  if (result.code !== 0) {
    throw new Error(`dpkg does not say what is installed: ${lastLines(result).join(' ')}`);
  }
  const lines = result.stdout.split('\n').map((line) => line.split('\t'));
  return lines.flatMap(([name, status]) => (name && status === 'installed' ? [name] : []));
}
