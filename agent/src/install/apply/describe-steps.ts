import { existsSync, readFileSync } from 'node:fs';

import { paths } from '../paths.ts';
import type { Step } from '../steps.ts';
import { type Changes, nameEntry, type StepContext } from './step-kind.ts';
import { describeUndo } from './undo.ts';
import type { Journal } from './journal.ts';
import { bindStep } from './kinds.ts';
import { listStale } from './entries.ts';
import { locate } from './machine.ts';
import { showDifference } from './show-difference.ts';

/**
 * What a plan would do here, step by step, with the texts of its files, and what it would undo of an earlier one; nothing is
 * changed.
 */
export async function describeSteps(
  steps: readonly Step[],
  context: StepContext & { readonly journal: Pick<Journal, 'done'> },
): Promise<string[]> {
  const told = [];
  for (const step of steps) {
    const { title, isSatisfied } = bindStep(step);
    const isDone = await isSatisfied(context);
    told.push(isDone ? `· ${title}: already so` : `+ ${title}`);
    if (isDone) continue;
    told.push(...showText(step, context));
    noteChange(step, context.changed);
  }
  const stale = listStale(context.journal, steps.map(bindStep).map(nameEntry), context);
  return [
    ...told,
    ...stale
      .toReversed()
      .flatMap(describeUndo)
      .map((title) => `- ${title}`),
  ];
}

/** So that those who read it are known to be told. */
function noteChange(step: Step, changed: Changes): void {
  if ('path' in step) changed.add(step.path);
  else if (step.kind === 'program') changed.add(step.to);
  else if (step.kind === 'own-certificate') changed.add(paths.certificate);
  else if (step.kind === 'authority') changed.add(paths.authorityCertificate);
}

function showText(step: Step, context: StepContext): string[] {
  if (step.kind === 'edit') return indent(showDifference(step.before, step.after));
  if (step.kind !== 'file') return [];
  const place = locate(context, step.path);
  if (!existsSync(place)) return indent(step.text.trimEnd().split('\n'));
  if (step.keepsExisting) return [];
  return indent(showDifference(readFileSync(place, 'utf8'), step.text));
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => `    ${line}`.trimEnd());
}
