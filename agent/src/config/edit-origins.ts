import type * as Yaml from 'yaml';

const PATH = ['viewers', 'allowed_origins'];

/**
 * Sets `viewers.allowed_origins` in the text of a valid configuration. Other lines and comments stay as they are, up to
 * indentation.
 * @param origins in the order in which they are written
 */
export async function setAllowedOrigins(text: string, origins: readonly string[]): Promise<string> {
  const library = await import('yaml');
  const document = library.parseDocument(text);
  const list = document.getIn(PATH);
  if (library.isSeq(list) && list.flow !== true) updateBlock(library, document, list, origins);
  else {
    if (document.get('viewers') == null) document.set('viewers', document.createNode({}));
    document.setIn(PATH, document.createNode(origins, { flow: true }));
  }
  return document.toString({ lineWidth: 0 });
}

/** Removes and adds items of a list with one origin on each line, so that their comments stay. */
function updateBlock(
  { isScalar }: typeof Yaml,
  document: Yaml.Document,
  list: Yaml.YAMLSeq,
  origins: readonly string[],
): void {
  const valueOf = (item: unknown): unknown => (isScalar(item) ? item.value : null);
  list.items = list.items.filter((item) => origins.some((each) => each === valueOf(item)));
  const kept = new Set(list.items.map(valueOf));
  for (const origin of origins) if (!kept.has(origin)) list.add(document.createNode(origin));
  if (list.items.length === 0) list.flow = true;
}
