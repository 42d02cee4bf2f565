import assert from 'node:assert/strict';
import { test } from 'node:test';

import { stripTypes } from './strip-types.ts';

const SOURCE = `import type { Log } from './log.ts';
import { version } from '#server/lib/version.ts';
import { LicenseKey } from '@latchkey/contract';
import { LINES } from '@latchkey/contract/fleet-lines';
const worker = new URL('./worker-main.ts', import.meta.url);
const late = import('./late.ts');
export function log(log: Log, text: string): void { log.info(\`\${text} of main.ts\`); }
`;

test('keeps lines and columns, and names JavaScript files', () => {
  const code = stripTypes('server/src/http/routes.ts', SOURCE);
  assert.equal(
    code.replaceAll(/ +/gu, ' '),
    `
import { version } from '#server/lib/version.js';
import { LicenseKey } from '../../../contract/src/index.js';
import { LINES } from '../../../contract/src/fleet-lines.js';
const worker = new URL('./worker-main.js', import.meta.url);
const late = import('./late.js');
export function log(log , text ) { log.info(\`\${text} of main.ts\`); }
`.replace('\n', ' \n'),
  );
  const [line, before] = [6, code.split('\n')[6]?.indexOf('log.info')];
  assert.equal(before, SOURCE.split('\n')[line]?.indexOf('log.info'));
});
