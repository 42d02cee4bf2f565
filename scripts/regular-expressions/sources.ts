import { globSync } from 'node:fs';

import { repository } from '../lib/steps.ts';
import { readModule } from './constants.ts';
import { findExpressions, type BuiltExpression, type FoundExpression } from './find-expressions.ts';

/** The sources of what is delivered. The scripts of the repository see no text from outside. */
const SOURCES = '{agent,clients/typescript,console,contract,server}/{bin,src}/**/*.{ts,tsx,js,mjs}';

/** Returns the regular expressions of the delivered sources. */
export function findAllExpressions(): {
  readonly constant: readonly FoundExpression[];
  readonly built: readonly BuiltExpression[];
} {
  const paths = globSync(SOURCES, { cwd: repository })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !/\.(?:test|fixture)\.tsx?$|\/node_modules\//u.test(path));
  const found = paths.map((path) => findExpressions(readModule(path)));
  return {
    constant: found.flatMap(({ constant }) => constant),
    built: found.flatMap(({ built }) => built),
  };
}
