import { existsSync, readFileSync } from 'node:fs';

import type { Step } from '../steps.ts';
import { bindStep } from './kinds.ts';
import { locate } from './machine.ts';
import type { StepContext } from './step-kind.ts';
import { showDifference } from './show-difference.ts';

/** What a plan would do here, step by step, with the texts of its files; nothing is changed. */
export async function describeSteps(
  steps: readonly Step[],
  context: StepContext,
): Promise<string[]> {
  const told = [];
  for (const step of steps) {
    const { title, holds } = bindStep(step);
    const isDone = await holds(context);
    told.push(isDone ? `· ${title}: already so` : `+ ${title}`);
    if (!isDone) told.push(...showText(step, context));
  }
  return told;
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
