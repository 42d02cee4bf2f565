/**
 * Every regular expression of the delivered sources takes time that is linear in the length of the text. Those of
 * `regular-expressions/ledger.json` were proved by `npm run check:expressions`, which `npm run test:release` repeats.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { repository } from './lib/steps.ts';
import { findProblem } from './regular-expressions/check-expression.ts';
import { parseModule } from './regular-expressions/constants.ts';
import { findExpressions } from './regular-expressions/find-expressions.ts';
import { formatExpression, groupByExpression, readLedger } from './regular-expressions/ledger.ts';
import { findAllExpressions } from './regular-expressions/sources.ts';

/** Expressions whose source is known only while the program runs, and why they are linear. */
const BUILT: Readonly<Record<string, string>> = {
  'agent/src/collect/host.ts: `^${name}\\\\s*: (.+)$`':
    'The names are constants; one match begins at each line, and blanks are followed by a colon.',
  'agent/src/doctor/inspect/programs.ts: `^ *${field}: (.*)$`':
    'The fields are constants; one match begins at each line.',
  'agent/src/install/apply/certbot.ts: `^${field}\\\\s*=\\\\s*(\\\\S+)`':
    'The fields are constants; one match begins at each line that begins with the field.',
  'agent/src/install/detect/firewall.ts: String.raw`^[^#\\n]*\\b${port}\\b`':
    'The port is a number; one match begins at each line and ends in it.',
  "agent/src/install/nginx/matching.ts: expression.replaceAll('(?P<', '(?<')":
    "It is the administrator's own, for nginx, and the text is the domain of at most 253 characters that the same administrator chose.",
  'agent/src/tls/tls-files.ts: `-----BEGIN ${label}-----[^-]+-----END ${label}-----`':
    'The labels are constants; a match ends at the next hyphen.',
  "server/src/http/not-found.ts: `^${parts.join('/')}$`":
    'The parts are those of the routes: parameters between slashes match no slash.',
  'server/src/http/not-found.ts: toPattern(url)': 'It is the one above.',
};

const { constant, built } = findAllExpressions();

describe('the regular expressions of the delivered sources', () => {
  test('are proved to be linear', () => {
    assert.ok(constant.length > 500, 'the expressions were not found');
    const ledger = readLedger();
    const added = [...groupByExpression(constant)].filter(
      ([expression]) => !ledger.has(expression),
    );
    const problems = added.map(([expression, [first]]) => {
      const problem = first === undefined ? null : findProblem(first);
      const what = problem ?? 'is linear, but not listed: run npm run check:expressions';
      return `${first?.place}: ${expression} ${what}`;
    });
    assert.deepEqual(problems, []);
  });

  test('are the only ones of the ledger', () => {
    const found = groupByExpression(constant);
    const forgotten = [...readLedger()].filter((each) => !found.has(each));
    assert.deepEqual(forgotten, [], 'run npm run check:expressions');
  });

  test('are constant, or the reason why they are linear is known', () => {
    const found = built.map(({ path, argument }) => `${path}: ${argument}`);
    assert.deepEqual(found.toSorted(), Object.keys(BUILT).toSorted());
  });

  test('contain the patterns of the interface', () => {
    const found = groupByExpression(constant);
    const patterns = listPatterns(
      JSON.parse(readFileSync(join(repository, 'openapi.json'), 'utf8')),
    );
    const unknown = patterns.filter(
      (source) => !found.has(formatExpression({ source, flags: 'u' })),
    );
    assert.deepEqual(unknown, []);
  });
});

function listPatterns(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    name === 'pattern' && typeof each === 'string' ? [each] : listPatterns(each),
  );
}

const SOURCE = `
import { HOST } from '../not/here.ts';
const DIGITS = String.raw\`\\d+\`;
const PARTS = ['a', 'b'] as const;
export const literal = /x\\/y/giu;
new RegExp(\`^\${DIGITS}-\${PARTS.join('|')}$\`, 'm');
RegExp(literal.source + '?');
text.match('c.d');
Type.String({ pattern: '^' + DIGITS });
text.search('e+f'); const schema = { 'pattern': 'g' };
new RegExp(HOST);
function find(name: string) { return new RegExp(name); }
const { pattern } = options; const noRegExp = '/a+/' + 1 / 2 / 3;
`;

test('finds literals and built expressions with their constants, and reports those without', () => {
  const found = findExpressions(parseModule('server/src/a.ts', SOURCE));
  assert.deepEqual(found.constant.map(formatExpression), [
    String.raw`/x\/y/giu`,
    String.raw`/^\d+-a|b$/m`,
    String.raw`/x\/y?/`,
    '/c.d/',
    String.raw`/^\d+/u`,
    '/e+f/',
    '/g/u',
  ]);
  assert.deepEqual(found.constant[0]?.place, 'server/src/a.ts:5');
  assert.deepEqual(
    found.built.map(({ argument }) => argument),
    ['HOST', 'name'],
  );
});

test('refuses expressions that are not linear', () => {
  const cases = [
    [String.raw`\s*;\s*q=`, '2nd degree'],
    [String.raw`\{\{\s*(?<name>[^{}|]*?)\s*\}\}`, '3rd degree'],
    ['^(a|a)*$', 'exponential'],
  ] as const;
  for (const [source, degree] of cases) {
    assert.match(findProblem({ source, flags: 'u' }) ?? '', new RegExp(degree, 'u'));
  }
  assert.equal(findProblem({ source: '^[a-z]+;$', flags: 'u' }), null);
});
