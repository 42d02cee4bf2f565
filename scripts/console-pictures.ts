/**
 * Takes screenshots of pages of the console with the data of the browser tests, in light and dark, 360 and 1440 px wide:
 *
 *     node scripts/run.mjs scripts/console-pictures.ts OUT PATH… [--role=admin] [--whole] [--click=SELECTOR]
 *     node scripts/run.mjs scripts/console-pictures.ts /tmp/out /licenses '/licenses?status=expired' /account
 *
 * `{name}` in a path is replaced by that name of the test data; the path `/sign-in` is taken signed out.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { OPERATOR_ROLES } from '@latchkey/contract';

import { openConsole, type Console } from '../console/test/open-console.ts';
import { waitUntilShown } from '../console/test/windows.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    role: { type: 'string', default: 'admin' },
    whole: { type: 'boolean', default: false },
    click: { type: 'string' },
  },
});
const [folder = 'console-pictures', ...paths] = positionals;
const role = OPERATOR_ROLES.find((each) => each === values.role) ?? 'admin';
mkdirSync(folder, { recursive: true });

await using resources = new AsyncDisposableStack();
const running = await openConsole(resources);
for (const path of paths) {
  for (const dark of [false, true]) {
    for (const width of [360, 1440]) await take(running, path, { width, dark });
  }
}

async function take(
  opened: Console,
  path: string,
  { width, dark }: { readonly width: number; readonly dark: boolean },
): Promise<void> {
  const filled = path.replaceAll(
    /\{(?<name>\w+)\}/g,
    (_, name: string) => opened.world[name] ?? name,
  );
  const window = await opened.open(path === '/sign-in' ? null : role, { width, dark });
  await window.go(filled);
  if (values.click !== undefined) {
    await window.page.locator(values.click).first().click();
    await waitUntilShown(window.page);
  }
  const name = path.replaceAll(/[^\w-]+/g, '-').replaceAll(/^-|-$/g, '') || 'start';
  const file = join(folder, `${name}-${dark ? 'dark' : 'light'}-${width}.png`);
  await window.page.screenshot({ path: file, fullPage: values.whole });
  console.log(file);
  for (const problem of window.problems) console.log(`  ${problem}`);
  await window.close();
}
