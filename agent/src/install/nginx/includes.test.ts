import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';

import { paths } from '../paths.ts';
import { type Block, type Directive, readDirectives } from './directives.ts';
import { includeAtEnd, includeAtStart, removeIncludes } from './includes.ts';

const ROUTE = paths.nginxRoute;

function findBlock(text: string, name = 'server'): Block {
  const list = (directives: readonly Directive[]): readonly Directive[] =>
    directives.flatMap((each) => [each, ...list(each.block?.directives ?? [])]);
  const block = list(readDirectives('/x', text)).find((each) => each.name === name)?.block;
  assert.ok(block);
  return block;
}

const end = (text: string): string => includeAtEnd(text, findBlock(text), ROUTE);
const start = (text: string): string => includeAtStart(text, findBlock(text), ROUTE);

describe('an inserted include', () => {
  test('precedes the closing brace with the indentation of the block', () => {
    assert.equal(
      end('http {\n\tserver {\n\t\tlisten 443 ssl;\n\n\t\t# the end\n\t}\n}\n'),
      `http {\n\tserver {\n\t\tlisten 443 ssl;\n\n\t\t# the end\n\t\tinclude ${ROUTE}; # latchkey-agent\n\t}\n}\n`,
    );
  });

  test('uses the line ends of the file', () => {
    assert.equal(
      end('server {\r\n  a;\r\n}\r\n'),
      `server {\r\n  a;\r\n  include ${ROUTE}; # latchkey-agent\r\n}\r\n`,
    );
  });

  test('is indented by four spaces in an empty block', () => {
    assert.equal(end('server {\n}'), `server {\n    include ${ROUTE}; # latchkey-agent\n}`);
  });

  test('shares the line of a brace that shares its line', () => {
    assert.equal(end('server { a; }'), `server { a; include ${ROUTE}; }`);
    assert.equal(end('server {\n a; }\n'), `server {\n a; include ${ROUTE}; }\n`);
  });

  test('follows the opening brace and its comment', () => {
    assert.equal(
      start('server { # shop\n  return 301 /;\n}\n'),
      `server { # shop\n  include ${ROUTE}; # latchkey-agent\n  return 301 /;\n}\n`,
    );
    assert.equal(start('server { a; }'), `server {include ${ROUTE};  a; }`);
  });
});

const line = fc.constantFrom(
  'listen 443 ssl;',
  'server_name a.test;',
  '# include x; }',
  'location / { return 200 "}"; }',
  '',
  "log_format x '{';",
  'set $a "${b}#";',
  'content_by_lua_block { local a = "}" }',
  'a b; c d;',
);
const gap = fc.constantFrom('', ' ', '\t', '    ');
const lineEnd = fc.constantFrom('\n', '\r\n');

/** A file with one server block in any format. */
const file = fc
  .record({
    mark: fc.constantFrom('', '\u{FEFF}'),
    outer: fc.boolean(),
    lines: fc.array(fc.tuple(gap, line, gap, lineEnd), { maxLength: 8 }),
    opening: fc.constantFrom('{', ' {', ' { # {', '\n{'),
    afterOpening: fc.constantFrom('\n', '\r\n', '\n\n'),
    closing: fc.constantFrom('}', '  }', 'x; }', '}}'),
    last: fc.constantFrom('', '\n', '\r\n', ' # }'),
  })
  .map(({ mark, outer, lines, opening, afterOpening, closing, last }) => {
    const body = lines.map((parts) => parts.join('')).join('');
    const isDouble = outer || closing === '}}';
    const before = isDouble ? `${mark}http {\n` : mark;
    const after = isDouble && closing !== '}}' ? '\n}' : '';
    return `${before}server${opening}${afterOpening}${body}${closing}${after}${last}`;
  });
const oneLine = fc
  .tuple(gap, fc.array(fc.constantFrom('a;', 'b "}" c;', 'd { e; }')), gap)
  .map(([first, body, last]) => `server${first}{${first}${body.join(last)}${last}}`);

describe('removing includes', () => {
  for (const [where, include] of [
    ['end', includeAtEnd],
    ['start', includeAtStart],
  ] as const) {
    test(`restores the original text (${where})`, () => {
      fc.assert(
        fc.property(fc.oneof(file, oneLine), (text) => {
          const block = findBlock(text);
          const changed = include(text, block, ROUTE);
          const names = findBlock(changed).directives.map(({ name }) => name);
          const own = block.directives.map(({ name }) => name);
          assert.deepEqual(names, where === 'end' ? [...own, 'include'] : ['include', ...own]);
          assert.equal(removeIncludes(changed, '/etc/nginx'), text);
        }),
        { numRuns: 1000 },
      );
    });
  }

  const written: readonly [text: string, without: string][] = [
    ['a;\ninclude snippets/latchkey-agent.conf;\nb;\n', 'a;\nb;\n'],
    ['a;\n  include  "/etc/nginx/snippets/latchkey-agent.conf" ;\nb;\n', 'a;\nb;\n'],
    ["a; include 'snippets/latchkey-agent.conf'; b;", 'a; b;'],
    ['a;\ninclude\n  ./snippets/latchkey-agent.conf;\nb;\n', 'a;\nb;\n'],
    ['include snippets/latchkey-agent.conf; # mine\n', '# mine\n'],
    ['"include" snippets/latchkey-agent.conf;\n', ''],
  ];
  for (const [text, without] of written) {
    test(`finds the include in any form that nginx accepts: ${JSON.stringify(text)}`, () => {
      assert.equal(removeIncludes(text, '/etc/nginx'), without);
    });
  }

  test('keeps patterns, comments and quoted texts that only contain the include', () => {
    for (const text of [
      'include snippets/*.conf;\n',
      '# include snippets/latchkey-agent.conf;\n',
      `return 200 "include ${ROUTE};";\n`,
      `include ${ROUTE} more;\n`,
      `content_by_lua_block { include ${ROUTE}; }\n`,
    ])
      assert.equal(removeIncludes(text, '/etc/nginx'), text);
  });

  test('keeps the text of others, even when they moved the include and removed its tag', () => {
    const text = `server {\n  a;\n\tinclude ${ROUTE};  \n  include ${paths.nginxChallenge}; # latchkey-agent\n  b;\n  # include ${ROUTE};\n  include /etc/nginx/snippets/other.conf; # latchkey-agent\n}\n`;
    assert.equal(
      removeIncludes(text, '/etc/nginx'),
      `server {\n  a;\n  b;\n  # include ${ROUTE};\n  include /etc/nginx/snippets/other.conf; # latchkey-agent\n}\n`,
    );
  });
});
