import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readOutput } from '../../test/programs.ts';

import { NVIDIA_FIELDS, findUnknownField, parseNvidiaSmi } from './nvidia-smi.ts';

const parse = (bytes: Buffer) => parseNvidiaSmi(bytes, NVIDIA_FIELDS);

const MEBIBYTE = 1_048_576;

test('reads every figure of a card', () => {
  assert.deepEqual(parse(readOutput('nvidia-smi/one-gpu.txt')), [
    {
      vendor: 'nvidia',
      index: 0,
      uuid: 'GPU-5c8c1f2e-6b7a-4d0e-9a63-0f4b5b1b7d11',
      pci_address: '0000:01:00.0',
      name: 'NVIDIA GeForce RTX 4090',
      usage_ratio: 0.42,
      memory_used_bytes: 8123 * MEBIBYTE,
      memory_total_bytes: 24_564 * MEBIBYTE,
      temperature_celsius: 61,
      power_watts: 287.43,
      power_limit_watts: 450,
      fan_ratio: 0.35,
      frequency_hertz: 2_520_000_000,
      memory_frequency_hertz: 10_501_000_000,
    },
  ]);
});

test('uses the newest line of each card, also in an incomplete block', () => {
  const block = readOutput('nvidia-smi/eight-gpus.txt');
  const half = String(block).replaceAll(', 100, 79210', ', 50, 79210').split('\n').slice(0, 2);
  const gpus = parse(Buffer.concat([block, block, Buffer.from(`${half.join('\n')}\n2, GPU-0`)]));
  assert.deepEqual(
    gpus.map(({ index, usage_ratio: usage }) => [index, usage]),
    [0.5, 0.99, 1, 0.97, 0, 0, 0, 0.12].map((usage, index) => [index, usage]),
  );
});

test('leaves out unknown values', () => {
  assert.deepEqual(parse(readOutput('nvidia-smi/not-available.txt')), [
    {
      vendor: 'nvidia',
      index: 0,
      uuid: 'GPU-8a2d6f10-0c61-0b77-4d0c-9a1a3d6c2b90',
      pci_address: '0000:02:00.0',
      name: 'Quadro K620',
      memory_used_bytes: 312 * MEBIBYTE,
      memory_total_bytes: 1999 * MEBIBYTE,
      temperature_celsius: 47,
    },
    { vendor: 'nvidia', index: 1 },
  ]);
});

test('reads memory and power of a card in MIG mode, which has no usage', () => {
  const [gpu] = parse(readOutput('nvidia-smi/mig.txt'));
  assert.deepEqual(
    [gpu?.usage_ratio, gpu?.memory_used_bytes, gpu?.power_watts, gpu?.name],
    [undefined, 9876 * MEBIBYTE, 62.31, 'NVIDIA A100-SXM4-40GB'],
  );
});

test('keeps a comma in a name, and leaves out fields that were not queried', () => {
  const fields = NVIDIA_FIELDS.filter((field) => field !== 'power.limit');
  const line = '0, GPU-12345678, 00000000:01:00.0, 1, 2, 3, 4, 5, 6, 7, 8, Some, Card\n';
  const [gpu] = parseNvidiaSmi(Buffer.from(line), fields);
  assert.deepEqual(
    [gpu?.name, gpu?.power_limit_watts, gpu?.fan_ratio],
    ['Some, Card', undefined, 0.06],
  );
});

test('skips messages, truncated lines and garbage', () => {
  const good = String(readOutput('nvidia-smi/one-gpu.txt'));
  for (const noise of [
    String(readOutput('nvidia-smi/version-mismatch.txt')),
    'No devices were found\n',
    good.slice(40),
    `${', '.repeat(20)}\n`,
    `x${good}`,
    '\n\n\n',
    '\u0000\uFFFD'.repeat(500),
  ]) {
    assert.deepEqual(parse(Buffer.from(noise)), [], noise);
    assert.equal(parse(Buffer.from(`${good}${noise}`))[0]?.usage_ratio, 0.42, noise);
  }
});

test('ignores an incomplete line', () => {
  const good = String(readOutput('nvidia-smi/one-gpu.txt'));
  const half = good.replace(', 42,', ', 43,').slice(0, -6);
  assert.deepEqual(parse(Buffer.from(half)), []);
  assert.equal(parse(Buffer.from(`${good}${half}`))[0]?.usage_ratio, 0.42);
});

test('leaves out a usage above 100 %', () => {
  const line = String(readOutput('nvidia-smi/one-gpu.txt')).replace(', 42,', ', 4294967295,');
  assert.equal(parse(Buffer.from(line))[0]?.usage_ratio, undefined);
});

test('finds the unknown field in the message of an older version', () => {
  assert.equal(findUnknownField(String(readOutput('nvidia-smi/old-driver.txt'))), 'power.limit');
  assert.equal(findUnknownField('No devices were found'), null);
});
