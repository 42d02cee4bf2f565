import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { ensureAuthority, isAuthorityReady } from '../authority/ensure-authority.ts';
import { hasIssuedSince } from '../authority/register.ts';
import { systemClock } from '../clock.ts';
import type { Progress, RunContext } from '../install/apply/apply-plan.ts';
import {
  type AuthorityRequest,
  Changes,
  type InstallServices,
} from '../install/apply/step-kind.ts';
import type { Interruption } from '../install/apply/interruption.ts';
import { Journal } from '../install/apply/journal.ts';
import type { HostFacts } from '../install/facts.ts';
import { findDirectory } from '../install/nginx/read-configuration.ts';
import { paths } from '../install/paths.ts';
import type { Plan } from '../install/plan/plan.ts';
import { runProgram, type RunProgram } from '../system/run-program.ts';
import { requestChallenge, findChallengeProblem } from '../install/verify/challenge.ts';
import { formatAddress } from '../install/verify/next-steps.ts';
import { probeProxy } from '../install/verify/probe-proxy.ts';
import { LockError, withFileLock } from '../system/file-lock.ts';
import { commandProcess } from './command-process.ts';
import { printNote } from './output.ts';

/** The means to apply and undo steps on this machine. */
export interface Installation {
  readonly runProgram: RunProgram;
  readonly open: (plan: PlanContext | null, facts: HostFacts | null) => RunContext;
}

/** What steps need of their plan. */
type PlanContext = Pick<Plan, 'agentPort' | 'installed' | 'keptCertificates'>;

const LOCK_PATH = '/run/latchkey-agent-install.lock';

/** Runs `work` while no other process installs or uninstalls on this machine. */
export async function withInstallationLock(work: () => Promise<void>): Promise<void> {
  try {
    await withFileLock(LOCK_PATH, work);
  } catch (error) {
    if (!(error instanceof LockError) || !error.isHeld) throw error;
    const text = 'Another installation is running on this machine: wait until it has ended.';
    throw new Error(text, { cause: error });
  }
}

export function openInstallation(isVerbose: boolean, interruption: Interruption): Installation {
  const run = isVerbose ? showPrograms(runProgram) : runProgram;
  const machine = { root: '', ownerId: 0, runProgram: run };
  return {
    runProgram: run,
    open(plan, facts) {
      const journal = new Journal(machine);
      return {
        ...machine,
        journal,
        backups: journal.backups,
        changed: new Changes(),
        report: printNote,
        progress: openProgress(),
        checkInterruption: interruption.check,
        services: openServices(run, plan, facts),
        isUninstallation: false,
      };
    },
  };
}

function openServices(
  run: RunProgram,
  plan: PlanContext | null,
  facts: HostFacts | null,
): InstallServices {
  const target = plan?.installed ?? null;
  const context = { paths, runProgram: run, clock: systemClock, randomBytes };
  const withAddress = (request: AuthorityRequest) => {
    if (plan === null) return request;
    return { ...request, address: `wss://${formatAddress(plan.installed, plan.agentPort)}` };
  };
  return {
    domain: target?.domain ?? '',
    sleep: async (ms) => sleep(ms),
    now: systemClock.now,
    keepsCertificate: (name) => plan?.keptCertificates.includes(name) ?? true,
    checkChallenge: async (domain) => checkChallenge(domain, facts),
    nginxDirectory: findDirectory(facts?.nginx?.files ?? []),
    nginxWarnings: facts?.nginx?.warnings ?? [],
    probeProxy: async () => (target === null ? null : (await probeProxy(target)).problem),
    async ensureAuthority(request) {
      await ensureAuthority(context, withAddress(request));
    },
    isAuthorityReady: async (request) => isAuthorityReady(context, withAddress(request)),
    hasIssuedSince: (earlier) => hasIssuedSince(paths, earlier),
  };
}

/** When the domain resolves elsewhere, only the answer of this machine can be checked. */
async function checkChallenge(domain: string, facts: HostFacts | null): Promise<string | null> {
  if (facts === null) return null;
  const { addresses, domainAddresses } = facts;
  return findChallengeProblem(domain, await requestChallenge(domain, domainAddresses, addresses));
}

/** Prints a line for each step on standard error. */
function openProgress(): Progress {
  const isTerminal = commandProcess().stderr.isTTY;
  const clear = isTerminal ? '\r\u001B[K' : '';
  return {
    begin(title) {
      if (isTerminal) commandProcess().stderr.write(`${clear}… ${title}`);
    },
    end(title, isDone, seconds) {
      const line = isDone ? `✓ ${title} (${seconds.toFixed(1)} s)` : `· ${title}: already so`;
      commandProcess().stderr.write(`${clear}${line}\n`);
    },
    failed(reason, isUndone) {
      commandProcess().stderr.write(`${clear}✗ ${reason}\n`);
      if (isUndone) printNote('Undoing the changes …');
    },
  };
}

/** Prints each program that is run, and its exit code. */
function showPrograms(run: RunProgram): RunProgram {
  return async (program, args, options) => {
    const startedMs = performance.now();
    const result = await run(program, args, options);
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    const line = [program, ...args].join(' ').replaceAll(/\p{Cc}/gu, ' ');
    printNote(`  $ ${line}  → ${result.code ?? result.fault} (${seconds} s)`);
    return result;
  };
}
