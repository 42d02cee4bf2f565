import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseDump } from './read-configuration.ts';
import { findFatalWarnings } from '../apply/kinds/nginx.ts';

test('splits the output of nginx -T into files, the main one first', () => {
  const dump =
    '# configuration file /etc/nginx/nginx.conf:\nevents {}\n\n# configuration file /etc/nginx/a b.conf:\n\n# configuration file /etc/nginx/c:\nx;\n';
  assert.deepEqual(parseDump(dump), [
    { path: '/etc/nginx/nginx.conf', text: 'events {}\n' },
    { path: '/etc/nginx/a b.conf', text: '' },
    { path: '/etc/nginx/c', text: 'x;' },
  ]);
  assert.deepEqual(parseDump('nginx: [emerg] …\n'), []);
});

test('reports only new warnings about an ignored block of the domain', () => {
  const conflict = 'nginx: [warn] conflicting server name "a.test" on 0.0.0.0:443, ignored';
  const dated =
    '2026/11/21 12:00:00 [warn] 7#7: conflicting server name "b.test" on [::]:443, ignored';
  const other = 'nginx: [warn] protocol options redefined for 0.0.0.0:443';
  assert.deepEqual(findFatalWarnings([], [conflict, dated, other], 'a.test'), [conflict]);
  assert.deepEqual(findFatalWarnings([], [conflict, dated, other], 'b.test'), [dated]);
  assert.deepEqual(findFatalWarnings([conflict], [conflict, other], 'a.test'), []);
});
