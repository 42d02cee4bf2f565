import { Command } from 'commander';

import { systemClock } from '../clock.ts';
import type { Finding } from '../doctor/finding.ts';
import { commandProcess } from './command-process.ts';
import {
  configOption,
  type ConfigOptions,
  jsonOption,
  type OutputOptions,
  paint,
  printNote,
  printResult,
  withExamples,
} from './output.ts';

type Options = ConfigOptions & OutputOptions;

const MARKS = { ok: '✓', skipped: '·', warning: '!', problem: '✗' } as const;
const NAME_WIDTH = 19;

/** `latchkey-agent doctor`: checks the installation and reports symptom, cause and fix of each problem. */
export function doctorCommand(): Command {
  const command = new Command('doctor')
    .description(
      'Find what keeps viewers from connecting, with cause and fix; exit code 1 on a problem.',
    )
    .addOption(configOption())
    .addOption(jsonOption())
    .action(run);
  return withExamples(command, [
    ['doctor', 'Problems of this installation and how to fix them'],
    ['doctor --json', 'The same, for a program'],
  ]);
}

async function run(options: Options): Promise<void> {
  const { examine } = await import('../doctor/examine.ts');
  const { inspectMachine } = await import('../doctor/inspect/inspect-machine.ts');
  const { runProgram } = await import('../system/run-program.ts');
  const inspection = await inspectMachine(options.config, runProgram, systemClock.now());
  const findings = examine(inspection);
  const healthy = findings.every(({ state }) => state !== 'problem');
  printResult(options, { healthy, findings }, () => describe(findings));
  if (!inspection.isRoot) printNote('Run as root for all checks: sudo latchkey-agent doctor');
  if (!healthy) commandProcess().exitCode = 1;
}

function describe(findings: readonly Finding[]): string {
  const count = (state: Finding['state']): number =>
    findings.filter((each) => each.state === state).length;
  const [problems, warnings] = [count('problem'), count('warning')];
  const verdict =
    problems + warnings === 0
      ? 'No problems found.'
      : `${problems} ${problems === 1 ? 'problem' : 'problems'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}.`;
  return [...findings.map(describeFinding), '', paint('bold', verdict)].join('\n');
}

function describeFinding(finding: Finding): string {
  const head = `${MARKS[finding.state]} ${finding.check.replaceAll('_', ' ').padEnd(NAME_WIDTH)} `;
  if ('message' in finding) {
    return finding.state === 'skipped'
      ? paint('dim', head + finding.message)
      : head + finding.message;
  }
  const { symptom, cause, fix } = finding;
  const indent = ' '.repeat(NAME_WIDTH + 3);
  return [`${head}${symptom}`, `${indent}Cause: ${cause}`, `${indent}Fix: ${fix}`].join('\n');
}
