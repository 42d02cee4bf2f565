/** What registries require of the packages of clients. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { listClients } from './conformance/driver/clients.ts';

const CLIENTS = import.meta.dirname;

function read(...path: readonly string[]): Promise<string> {
  return readFile(join(CLIENTS, ...path), 'utf8');
}

test('every client has the license of the repository', async () => {
  const license = await read('..', 'LICENSE');
  for (const { name, folder } of listClients(CLIENTS)) {
    assert.equal(await readFile(join(folder, 'LICENSE'), 'utf8'), license, name);
  }
});

test('the package for Java describes itself as Maven Central requires, and contains the license', async () => {
  const pom = await read('java', 'pom.xml');
  const project = pom.slice(0, pom.indexOf('<build>'));
  const required = ['name', 'description', 'url', 'license', 'developer', 'scm', 'connection'];
  for (const element of required) {
    assert.match(project, new RegExp(`<${element}>\\s*\\S[^]*?</${element}>`), element);
  }
  assert.match(project, /<\/description>\s*<url>/, 'the address of the project');
  assert.match(pom, /<resource>[^]*<include>LICENSE<\/include>[^]*<\/resource>/);
});

test('the package for .NET contains the license', async () => {
  const project = await read('csharp', 'Latchkey.Client.csproj');
  assert.match(project, /<None Include="LICENSE" Pack="true" PackagePath="\/" \/>/);
});
