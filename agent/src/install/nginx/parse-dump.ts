const MARK = /^# configuration file (?<path>\/.*):\n/gm;

/**
 * Splits what `nginx -T` prints into the files that it loads, the main one first. A line of a file that looks like such a mark
 * is taken for one; whoever needs the exact text reads the files.
 */
export function parseDump(
  stdout: string,
): readonly { readonly path: string; readonly text: string }[] {
  const marks = [...stdout.matchAll(MARK)];
  return marks.map((mark, index) => {
    const text = stdout.slice(mark.index + mark[0].length, marks[index + 1]?.index);
    // nginx ends each file with a line end of its own.
    return { path: mark.groups?.['path'] ?? '', text: text.replace(/\n$/, '') };
  });
}
