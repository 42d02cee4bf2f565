/** The doctor finds each fault of an installed agent on a whole system. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { Type } from 'typebox';
import { Value } from 'typebox/value';

import { type Fault, PROXY_FAULTS, STANDALONE_FAULTS } from './faults.ts';
import type { Cell } from './cells.ts';
import { expectSuccess } from './commands.ts';
import { Installation } from './installation.ts';
import { findMissingRequirement } from './requirements.ts';
import { unpackPackages } from './packages.ts';

const skip = findMissingRequirement() ?? false;
const packages = skip === false ? await unpackPackages() : null;
after(() => packages?.[Symbol.dispose]());

const Report = Type.Object({
  healthy: Type.Boolean(),
  findings: Type.Array(
    Type.Object({
      check: Type.String(),
      state: Type.String(),
      cause: Type.Optional(Type.String()),
      fix: Type.Optional(Type.String()),
    }),
  ),
});
type Report = ReturnType<typeof parseReport>;

test('the doctor finds the faults of a standalone agent', { skip }, async (context) => {
  await testFaults(context, STANDALONE_FAULTS, {
    release: 'bookworm',
    webServer: 'no web server',
    mode: 'standalone',
    mutualTls: false,
    expected: 'standalone',
  });
});

test(
  'the doctor finds the faults of an agent behind nginx with mutual TLS',
  { skip },
  async (context) => {
    await testFaults(context, PROXY_FAULTS, {
      release: 'trixie',
      webServer: 'nginx with another site',
      mode: 'proxy',
      mutualTls: true,
      expected: 'proxy',
    });
  },
);

async function testFaults(
  context: { readonly test: typeof test },
  faults: readonly Fault[],
  cell: Cell,
): Promise<void> {
  if (packages === null) throw new Error('There are no packages.');
  await using installation = await Installation.prepare(cell, packages);
  expectSuccess(await installation.install(packages.current));
  assertHealthy(await examine(installation));
  for (const fault of faults) {
    await context.test(fault.symptom, async () => {
      await fault.arrange(installation);
      const { healthy, findings } = await examine(installation);
      const found = findings.find(({ check }) => check === fault.check);
      assert.match(found?.cause ?? '', fault.facts, JSON.stringify(findings, null, 1));
      assert.deepEqual([healthy, found?.state], [false, 'problem']);
      assert.notEqual(found?.fix ?? '', '');
      await fault.repair(installation);
      assertHealthy(await examine(installation));
    });
  }
}

async function examine({ machine }: Installation): Promise<Report> {
  const { code, stdout } = await machine.attempt(['latchkey-agent', 'doctor', '--json']);
  const report = parseReport(stdout);
  assert.equal(code, report.healthy ? 0 : 1);
  return report;
}

function parseReport(text: string) {
  return Value.Parse(Report, JSON.parse(text));
}

function assertHealthy({ findings }: Report): void {
  assert.deepEqual(
    findings.filter(({ state }) => state === 'problem'),
    [],
  );
}
