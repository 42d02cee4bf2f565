import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { codeOf, isRecord } from '#server/lib/unknown-values.ts';

import { inheritedVariables } from './inherited-variables.ts';

const program = fileURLToPath(new URL('../src/main.ts', import.meta.url));

const Report = Type.Object({
  findings: Type.Array(
    Type.Object({
      check: Type.String(),
      status: Type.String(),
      symptom: Type.String(),
      cause: Type.Optional(Type.String()),
      fix: Type.Optional(Type.String()),
    }),
  ),
});

/** What `latchkey doctor` found. */
export type DoctorFinding = Type.Static<typeof Report>['findings'][number];

/** Runs `latchkey doctor` as a process, which reads variables of Node.js, and returns the findings of a check. */
export async function runDoctor(
  check: string,
  settings: Readonly<Record<string, string>>,
): Promise<DoctorFinding[]> {
  const env = { ...inheritedVariables(), LATCHKEY_PORT: '0', ...settings };
  const output = await promisify(execFile)(process.execPath, [program, 'doctor', '--json'], {
    env,
  }).catch((error: unknown) => {
    // A failed check.
    if (codeOf(error) === undefined && isRecord(error)) return { stdout: String(error['stdout']) };
    throw error;
  });
  const { findings } = Parse(Report, JSON.parse(output.stdout));
  return findings.filter((finding) => finding.check === check);
}
