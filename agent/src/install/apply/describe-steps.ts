import { existsSync } from 'node:fs';

import { paths } from '../paths.ts';
import type { Step } from '../steps.ts';
import { nameEntry } from './journal-entry.ts';
import type { Changes, StepContext } from './step-kind.ts';
import { describeUndo } from './undo.ts';
import type { Journal } from './journal.ts';
import { bindStep } from './kinds.ts';
import { listStale } from './entries.ts';
import { locate, type Machine } from './machine.ts';

/** The unchanged lines that are shown around a change. */
const CONTEXT_LINES = 2;

/**
 * Describes the changes of a plan on this machine, step by step with the texts of files, and the steps of an earlier installation
 * that it undoes.
 */
export async function describeSteps(
  steps: readonly Step[],
  context: StepContext & { readonly journal: Pick<Journal, 'done'> },
): Promise<string[]> {
  const lines = [];
  for (const step of steps) {
    const { title, isSatisfied } = bindStep(step);
    const isDone = await isSatisfied(context);
    lines.push(isDone ? `· ${title}: already so` : `+ ${title}`);
    if (isDone) continue;
    lines.push(...(await describeText(step, context)));
    recordChange(step, context.changed);
  }
  const stale = listStale(context.journal, steps.map(bindStep).map(nameEntry), context);
  return [
    ...lines,
    ...stale
      .toReversed()
      .flatMap(describeUndo)
      .map((title) => `- ${title}`),
  ];
}

/** Records the change, so that later steps whose programs read the path are described as unsatisfied. */
function recordChange(step: Step, changed: Changes): void {
  if ('path' in step) changed.add(step.path);
  else if (step.kind === 'program') changed.add(step.to);
  else if (step.kind === 'own-certificate') changed.add(paths.certificate);
  else if (step.kind === 'authority') changed.add(paths.authorityCertificate);
}

async function describeText(step: Step, context: StepContext): Promise<string[]> {
  if (step.kind === 'edit') return indent(await describeDifference(step.path, step.after, context));
  if (step.kind !== 'file') return [];
  if (!existsSync(locate(context, step.path))) return indent(step.text.trimEnd().split('\n'));
  if (step.keepsExisting) return [];
  return indent(await describeDifference(step.path, step.text, context));
}

/** Returns the lines of a file that change, with those around them; the whole new text when diff fails. */
async function describeDifference(path: string, text: string, machine: Machine): Promise<string[]> {
  const args = [`--unified=${CONTEXT_LINES}`, '--', locate(machine, path), '-'];
  const { code, stdout } = await machine.runProgram('diff', args, { input: text });
  if (code !== 0 && code !== 1) return text.trimEnd().split('\n');
  const [, , , ...lines] = stdout.trimEnd().split('\n');
  return lines
    .filter((line) => !line.startsWith('\\'))
    .map((line) => (line.startsWith('@@') ? '  …' : `${line.charAt(0)} ${line.slice(1)}`));
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => `    ${line}`.trimEnd());
}
