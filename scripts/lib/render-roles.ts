import { OPERATOR_ROLES } from '@latchkey/contract';

import type { OperatorAccess } from '#server/http/require-operator.ts';

import { createTestApp } from '../../server/test/test-app.ts';

interface Operation {
  readonly area: string;
  readonly summary: string;
  readonly access: OperatorAccess;
}

const INTRODUCTION = `# What each role may do

\`npm run openapi\` writes this page from the registered operations. A test sends each operation as each role and compares.

"yes": with a session of that role, or with an API key of its scope. "proof": also needs a password, passkey or sign-in
within the last 10 minutes; an API key needs none. "session": only a person in a browser, no API key.
`;

/** Renders the table of the operations of the operator interface by role. */
export async function renderRoles(): Promise<string> {
  const areas = Map.groupBy(await listOperations(), ({ area }) => area);
  const sections = [...areas]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([area, operations]) => renderArea(area, operations));
  return [INTRODUCTION, ...sections].join('\n');
}

async function listOperations(): Promise<Operation[]> {
  const found: Operation[] = [];
  const app = createTestApp({
    prepare: (instance) => {
      instance.addHook('onRoute', ({ method, url, config, schema }) => {
        const access = config?.access;
        const isRead = [method].flat().every((each) => each === 'HEAD');
        if (isRead || access === undefined || typeof access === 'string') return;
        if (!url.startsWith('/api/v1/admin/')) return;
        const [tag = 'admin: other'] = schema?.tags ?? [];
        found.push({ area: nameArea(tag), summary: schema?.summary ?? url, access });
      });
    },
  });
  await app.ready();
  await app.close();
  return found;
}

/** `admin: api keys` becomes `Api keys`. */
function nameArea(tag: string): string {
  const name = tag.replace(/^admin: */, '');
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function renderArea(area: string, operations: readonly Operation[]): string {
  const header = ['', ...OPERATOR_ROLES];
  const rows = operations.map(({ summary, access }) => [
    summary,
    ...OPERATOR_ROLES.map((role) => renderCell(role, access)),
  ]);
  const widths = header.map((_, column) =>
    Math.max(3, ...[header, ...rows].map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [`## ${area}`, '', line(header), rule, ...rows.map(line), ''].join('\n');
}

function renderCell(role: (typeof OPERATOR_ROLES)[number], access: OperatorAccess): string {
  const isAllowed = OPERATOR_ROLES.indexOf(role) >= OPERATOR_ROLES.indexOf(access.role);
  if (!isAllowed) return '–';
  const words = [access.fresh ? 'proof' : '', access.sessionOnly === true ? 'session' : ''];
  return words.filter((word) => word !== '').join(', ') || 'yes';
}
