import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type ErrorCode, errorCatalogue } from '@latchkey/contract/error-catalogue';
import * as factories from './errors.ts';

test('every code is documented, with its one status, in the order of the catalogue', () => {
  const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  const documented = page
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
  const catalogue = Object.entries(errorCatalogue).map(([code, { status, meaning }]) => [
    `\`${code}\``,
    String(status),
    meaning,
  ]);
  assert.deepEqual(documented, catalogue);
});

test('codes are ordered by status, and every meaning is a sentence', () => {
  const kinds = Object.values(errorCatalogue);
  const statuses = kinds.map(({ status }) => status);
  assert.deepEqual(
    statuses,
    statuses.toSorted((a, b) => a - b),
  );
  for (const { meaning, title } of kinds) {
    assert.match(meaning, /^[A-Z].*\.$/);
    assert.match(title, /^[A-Z].*[^.]$/);
  }
});

test('every code has a factory', () => {
  const made = new Set<ErrorCode>([
    factories.licenseNotFound().code,
    factories.activationNotFound().code,
    factories.machineMismatch().code,
    factories.airgapNotOffered().code,
    factories.buyerSessionInvalid().code,
    factories.codeInvalid(1).code,
    factories.machineAirgapped(new Date(0)).code,
    factories.freeingLimitReached(5, 30, new Date(0)).code,
    factories.airgapProductMismatch().code,
    factories.activationLimitReached(2, 2).code,
    factories.moveLimitReached(5, 30, new Date(0)).code,
    factories.storageLow(60).code,
    factories.providerUnavailable().code,
    factories.licenseNotUsable('expired').code,
    factories.licenseNotUsable('paused').code,
    factories.licenseNotUsable('canceled').code,
    factories.licenseNotUsable('refunded').code,
    factories.licenseNotUsable('suspended').code,
    factories.licenseNotUsable('revoked').code,
    factories.invalidApiKey().code,
    factories.insufficientScope('admin').code,
    factories.notSignedIn().code,
    factories.signInFailed().code,
    factories.codeRequired().code,
    factories.linkInvalid().code,
    factories.forbidden('admin').code,
    factories.freshProofRequired().code,
    factories.crossOrigin().code,
    factories.httpsRequired().code,
    factories.invalidSignature().code,
    factories.staleSignature().code,
    factories.billingNotConfigured().code,
    factories.mailNotConfigured().code,
    factories.unknownProvider().code,
    factories.totpState().code,
    factories.conflict({}).code,
    factories.notPossible('The license is revoked.').code,
    factories.idempotencyKeyReused().code,
    factories.rateLimited(1).code,
    factories.overloaded(1).code,
    factories.databaseUnavailable(undefined).code,
    factories.starting().code,
    factories.draining().code,
    factories.notFound().code,
    factories.methodNotAllowed(['GET']).code,
    factories.payloadTooLarge().code,
    factories.unsupportedMediaType().code,
    factories.invalidEncoding().code,
    factories.badRequest().code,
    factories.uriTooLong().code,
    factories.requestTimeout().code,
    factories.headersTooLarge().code,
    factories.internal(undefined).code,
  ]);
  assert.deepEqual([...made].toSorted(), Object.keys(errorCatalogue).toSorted());
});

test('the limit of activations is reported in numbers', () => {
  const error = factories.activationLimitReached(2, 3);
  assert.deepEqual([error.status, error.members], [409, { max: 2, current: 3 }]);
});
