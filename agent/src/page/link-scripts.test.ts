import assert from 'node:assert/strict';
import { test } from 'node:test';

import { linkScripts } from './link-scripts.ts';

function link(files: Readonly<Record<string, string>>): string {
  return linkScripts('main.ts', (file) => files[file] ?? '');
}

test('includes each module once, before its importers', () => {
  const script = link({
    'main.ts':
      "import { a } from './a.ts';\nimport {\n  b,\n} from './b.ts';\nexport const c = a + b;\n",
    'a.ts': "import { b } from './b.ts';\n/** One. */\nexport const a = b;\n",
    'b.ts': 'export function b() {}\nexport class D {}\n',
  });
  assert.equal(script, 'function b() {}\nclass D {}\nconst a = b;\nconst c = a + b;');
});

test('rejects unsupported imports and exports', () => {
  for (const text of [
    "import x from './x.ts';",
    "import { x as y } from 'package';",
    'export default 5;',
    "export * from './x.ts';",
  ]) {
    assert.throws(() => link({ 'main.ts': text }), /^Error: main\.ts cannot be linked: /);
  }
  const renamed = { 'main.ts': "import { x as y } from './x.ts';" };
  assert.throws(() => link(renamed), /cannot be linked/);
});
