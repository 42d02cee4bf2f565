import type { NginxFile } from '../facts.ts';
import type { EditStep } from '../steps.ts';
import { CONFIGURATION, isIncluded } from './includes.ts';
import { describeNode } from './read-configuration.ts';
import type { Server } from './servers.ts';
import { includeAtEnd, includeAtStart, keepTaggedLines, removeAround } from './tagged-lines.ts';

/** The edit of a block's file that includes a snippet, and no other of ours; none where it does so already. */
export function includeSnippet(
  { node: { file, directive }, directives }: Server,
  snippet: string,
  at: 'start' | 'end',
): readonly EditStep[] {
  if (directive.block === null) return [];
  const isThere = directives.some(
    ({ directive: { name, args } }) =>
      name === 'include' && isIncluded(args[0] ?? '', snippet, CONFIGURATION),
  );
  const include = at === 'end' ? includeAtEnd : includeAtStart;
  // A line elsewhere in the file is that of another domain, which had it before.
  const included = isThere
    ? file.text
    : removeAround(
        directive.block,
        file.text,
        include(file.text, directive.block, snippet),
        snippet,
      );
  const after = keepTaggedLines(included, [snippet]);
  return after === file.text ? [] : [{ kind: 'edit', path: file.path, before: file.text, after }];
}

/** Why a block's file is not to be changed by a program: one sentence; null when it may be. */
export function findFileHindrance({ node }: Server): string | null {
  const { file } = node;
  const place = describeNode(node);
  if (!isConfiguration(file)) {
    return `The site's server block is kept outside ${CONFIGURATION}/ (${place}, at ${file.realPath}).`;
  }
  if (!file.isWritable)
    return `The file of the site's server block cannot be written to (${place}).`;
  if (file.text.includes('\u{FFFD}')) {
    return `The file of the site's server block is not in UTF-8 (${place}).`;
  }
  return null;
}

function isConfiguration({ path, realPath }: NginxFile): boolean {
  return [path, realPath].every((each) => each.startsWith(`${CONFIGURATION}/`));
}
