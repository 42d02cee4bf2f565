/** The alert rules that Latchkey brings. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Type, type Static } from 'typebox';
import { Parse } from 'typebox/value';
import { parse } from 'yaml';

import { repository } from '../lib/steps.ts';

/** The file of the rules in the repository. */
export const RULES_FILE = 'deploy/prometheus/alerts.yml';

const Rule = Type.Object({
  alert: Type.String(),
  expr: Type.String(),
  for: Type.Optional(Type.String()),
  labels: Type.Object({
    severity: Type.Union([Type.Literal('critical'), Type.Literal('warning')]),
  }),
  annotations: Type.Object({
    summary: Type.String(),
    description: Type.String(),
    runbook: Type.String(),
  }),
});

/** An alert rule of Prometheus. */
export type AlertRule = Static<typeof Rule>;

const Rules = Type.Object({ groups: Type.Array(Type.Object({ rules: Type.Array(Rule) })) });

/** Reads the rules, in the order of the file. */
export async function readAlertRules(): Promise<readonly AlertRule[]> {
  const text = await readFile(join(repository, RULES_FILE), 'utf8');
  return Parse(Rules, parse(text)).groups.flatMap(({ rules }) => rules);
}
