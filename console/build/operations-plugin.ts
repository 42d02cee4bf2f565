/** Leaves out schemas: in the browser, an operation or a list of the contract is only what a call of it needs. */
import { pathToFileURL } from 'node:url';

import { isOperation } from '@latchkey/contract/operation';
import { grantOf } from '@latchkey/contract/permissions';
import type { Plugin } from 'rolldown';

const DECLARATIONS = /contract\/src\/admin-[\w-]+\.ts$/;

/** In the browser, a permission is its grant, so that the table of all is not loaded. */
const PERMISSIONS = /contract\/src\/permissions\.ts$/;
const GRANT_OF = 'export const grantOf = (permission) => permission;';

/** Replaces the files that declare operations by their addresses. Importing a schema from one fails, as an unknown export. */
export const operationsPlugin: Plugin = {
  name: 'operations',
  async load(id) {
    if (PERMISSIONS.test(id)) return { code: GRANT_OF, moduleType: 'js' };
    if (!DECLARATIONS.test(id)) return null;
    const exported: Readonly<Record<string, unknown>> = await import(pathToFileURL(id).href);
    const lines = Object.entries(exported).flatMap(([name, value]) => {
      const address = addressOf(value);
      return address === null ? [] : [`export const ${name} = ${JSON.stringify(address)};`];
    });
    return { code: lines.join('\n'), moduleType: 'js' };
  },
};

/** Returns what the console needs of an operation or a list; null for another value. */
function addressOf(value: unknown): object | null {
  if (isOperation(value)) {
    const { method, path, permission } = value;
    return { method, path, permission: permission === 'public' ? permission : grantOf(permission) };
  }
  const { list, export: file, title, sorts } = Object(value);
  if (!isOperation(list) || !isOperation(file)) return null;
  // A short list has no order.
  const order = Array.isArray(sorts) ? { sorts: [sorts[0]] } : {};
  return { title, ...order, list: addressOf(list), export: addressOf(file) };
}
