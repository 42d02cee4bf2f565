import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';

import { readDirectives } from './directives.ts';
import { NginxFault, tokenize } from './tokens.ts';

const PATH = '/etc/nginx/nginx.conf';

/** Returns names and arguments, with blocks as nested lists. */
function outline(text: string): unknown {
  const list = (directives: ReturnType<typeof readDirectives>): unknown =>
    directives.map(({ name, args, block }) =>
      block === null ? [name, ...args] : [name, ...args, list(block.directives)],
    );
  return list(readDirectives(PATH, text));
}

/** Random texts, most of which are no valid configuration. */
const pieces = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'server',
        ' ',
        '\t',
        '\n',
        '\r\n',
        ';',
        '{',
        '}',
        '#',
        '"',
        "'",
        '\\',
        '$',
        '${',
        '[[',
        ']]',
        '--',
        'content_by_lua_block',
        '\u{FEFF}',
        '~^a{2}$',
        'location',
        '"a b"',
        '# x\n',
        ')',
        '\u2028',
        'é',
      ),
      fc.string({ maxLength: 4 }),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(''));

describe('tokens', () => {
  test('cover the whole text, or report a fault with file and line', () => {
    let understood = 0;
    fc.assert(
      fc.property(pieces, (text) => {
        try {
          const tokens = tokenize(PATH, text);
          assert.equal(tokens.map(({ start, end }) => text.slice(start, end)).join(''), text);
          understood += 1;
        } catch (error) {
          assert.ok(error instanceof NginxFault);
          assert.match(error.message, /^\/etc\/nginx\/nginx\.conf, line \d+ is not understood: /);
        }
      }),
      { numRuns: 2000 },
    );
    assert.ok(understood > 100);
  });
});

describe('directives', () => {
  const cases: readonly [what: string, text: string, outline: unknown][] = [
    ['arguments in both kinds of quotes', `a "b c" 'd "e"';`, [['a', 'b c', 'd "e"']]],
    [
      'escapes in and out of quotes',
      String.raw`a "b\"c" d\;e \$f;`,
      [['a', 'b"c', String.raw`d\;e`, String.raw`\$f`]],
    ],
    ['quotes, # and } inside bare words', `a b"c# d'e f}g;`, [['a', 'b"c#', "d'e", 'f}g']]],
    ['variables with braces', 'a ${b}/${c};', [['a', '${b}/${c}']]],
    ['comments with all signs', 'a; # b; { } " \'\nc;', [['a'], ['c']]],
    ['a comment between arguments', 'a b # c;\n d;', [['a', 'b', 'd']]],
    [
      'Windows line ends',
      'a b;\r\nc {\r\n  d;\r\n}\r\n',
      [
        ['a', 'b'],
        ['c', [['d']]],
      ],
    ],
    ['a mark at the start and no line end', '\u{FEFF}a;', [['a']]],
    [
      'an expression with braces in quotes',
      'rewrite "^/x{2}$" /y;',
      [['rewrite', '^/x{2}$', '/y']],
    ],
    [
      'a condition that ends in a quote',
      'if ($a = "b") { c; }',
      [['if', '($a', '=', 'b', ')', [['c']]]],
    ],
    [
      'maps and types',
      'map $a $b { default 0; "" 1; ~*^/x 2; }',
      [
        [
          'map',
          '$a',
          '$b',
          [
            ['default', '0'],
            ['', '1'],
            ['~*^/x', '2'],
          ],
        ],
      ],
    ],
    ['nothing between braces', 'a {}', [['a', []]]],
  ];
  for (const [what, text, expected] of cases) {
    test(`are read with ${what}`, () => assert.deepEqual(outline(text), expected));
  }

  test('are read around Lua, whose strings and comments contain braces', () => {
    const lua = `content_by_lua_block {
      local a = "}" -- }
      local b = [==[ } ]] ]==] --[[ } { ]]
      if x then t = { '\\'}' } end
    }`;
    assert.deepEqual(outline(`location / { ${lua} } b;`), [
      ['location', '/', [['content_by_lua_block']]],
      ['b'],
    ]);
  });

  const faults: readonly [text: string, line: number, what: string][] = [
    ['a;\nb "c;\n', 2, 'a quote does not end'],
    ['a {\n b;\n', 1, 'a block does not end'],
    ['a;\n}\n', 2, 'there is a "}" too many'],
    ['a;\n\nb c\n', 3, 'a directive does not end'],
    ['a { b }', 1, 'a directive does not end'],
    [';', 1, 'a directive lacks its name'],
    ['{}', 1, 'a directive lacks its name'],
    ['a "b"c;', 1, 'something follows a quote without a space'],
    ['a\\', 1, 'it ends in a backslash'],
    ['x_by_lua_block {\n "}"', 1, 'a block of Lua does not end'],
    ['a {'.repeat(70), 1, 'blocks are nested too deep'],
  ];
  for (const [text, line, what] of faults) {
    test(`are rejected with the line: ${what} (${JSON.stringify(text.slice(0, 20))})`, () => {
      assert.throws(() => readDirectives(PATH, text), {
        name: 'NginxFault',
        message: `${PATH}, line ${line} is not understood: ${what}.`,
      });
    });
  }
});
