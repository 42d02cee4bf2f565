/** A plan with one step of each kind, for a {@link FakeHost}. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createPackage, listEveryStep } from '../../../test/every-step.ts';
import type { Step } from '../steps.ts';

const folder = mkdtempSync(join(tmpdir(), 'latchkey-agent-package-'));
// Several test files of a process share it.
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

export const packageFolder = createPackage(join(folder, 'first'), '1.0.0');
const newerPackage = createPackage(join(folder, 'newer'), '2.0.0');

export const steps = listEveryStep(packageFolder);
export const request = {
  steps,
  installed: '{"version":"1.0.0"}\n',
  verify: async (): Promise<void> => undefined,
};

/** The options of an uninstallation that leaves nothing. */
export const everything = { keepsConfiguration: false };

/** Returns the steps of the next plan, which finds the line of the agent in the file of nginx. */
export function afterEdit(plan: readonly Step[]): Step[] {
  return plan.map((step) => (step.kind === 'edit' ? { ...step, before: step.after } : step));
}

/** Returns the steps with the package of a newer version. */
export function withNewerPackage(plan: readonly Step[]): Step[] {
  return plan.map((step) => (step.kind === 'program' ? { ...step, from: newerPackage } : step));
}
