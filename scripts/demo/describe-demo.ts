import { fileURLToPath } from 'node:url';

import type { DemoHome } from './home.ts';
import type { DemoOptions } from './options.ts';
import { OPERATORS, SECOND_ADMIN } from './past/people.ts';
import { PASSWORD } from './past/operators.ts';

const COMMAND = fileURLToPath(new URL('../../node_modules/.bin/latchkey', import.meta.url));

/** Describes how to use a running demo. */
export function describeDemo(
  { directory, totpSecret }: DemoHome,
  { keep, port }: DemoOptions,
  seconds: number,
): string {
  const operators = OPERATORS.map(({ email, name, role }) => {
    const extra = email === SECOND_ADMIN.email ? ' with one-time codes' : '';
    return `    ${email.padEnd(24)} ${role}${extra} (${name})`;
  });
  return [
    '',
    `  The demo is ready after ${seconds} s. Nothing of it leaves this machine.`,
    '',
    `  Console    http://127.0.0.1:${port}/console`,
    `  Password   ${PASSWORD}   (of every operator)`,
    ...operators,
    `  Codes      add the secret ${totpSecret ?? '–'} to an authenticator app`,
    '',
    `  Data       ${directory}${keep === null ? ', removed at the end' : ''}`,
    `  Commands   cd ${directory} && ${COMMAND} license list`,
    '  Stop       Ctrl-C',
    '',
    '',
  ].join('\n');
}
