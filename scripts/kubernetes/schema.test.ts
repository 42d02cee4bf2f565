/** Validates the manifests of deploy/kubernetes strictly, as `kubectl apply` does with `--validate=strict`. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

import { Type } from 'typebox';
import { Compile, Parse } from 'typebox/schema';
import { parseAllDocuments } from 'yaml';

import { repository } from '../lib/steps.ts';
import { MANIFEST_TYPES } from './manifest-types.ts';

const Schema = Type.Object({ $defs: Type.Record(Type.String(), Type.Unknown()) });
const { $defs } = Parse(Schema, JSON.parse(read('scripts/kubernetes/schema.json')));
const Manifest = Type.Object({ apiVersion: Type.String(), kind: Type.String() });

const Listed = Type.Array(Type.Object({ name: Type.String() }));
const Pods = Type.Object({
  spec: Type.Object({
    template: Type.Object({
      spec: Type.Object({
        containers: Type.Tuple([
          Type.Object({
            image: Type.String(),
            envFrom: Type.Unknown(),
            securityContext: Type.Unknown(),
            resources: Type.Unknown(),
            volumeMounts: Listed,
          }),
        ]),
        volumes: Listed,
      }),
    }),
  }),
});

const strict = { additionalProperties: false };

/** The fields of kustomize (kustomize.config.k8s.io/v1beta1) that the directories use. */
const Kustomization = Compile(
  Type.Object(
    {
      apiVersion: Type.Literal('kustomize.config.k8s.io/v1beta1'),
      kind: Type.Literal('Kustomization'),
      resources: Type.Array(Type.String()),
      configMapGenerator: Type.Optional(
        Type.Array(Type.Object({ name: Type.String(), files: Type.Array(Type.String()) }, strict)),
      ),
      patches: Type.Optional(
        Type.Array(
          Type.Object(
            {
              target: Type.Object({ kind: Type.String(), name: Type.String() }, strict),
              patch: Type.String(),
            },
            strict,
          ),
        ),
      ),
    },
    strict,
  ),
);
const Patch = Type.Array(Type.Object({ op: Type.Literal('remove'), path: Type.String() }, strict));

function read(file: string): string {
  return readFileSync(join(repository, file), 'utf8');
}

function parse(text: string): unknown[] {
  return [...parseAllDocuments(text, { strict: true })].map((document) => {
    assert.deepEqual(document.errors, []);
    const value: unknown = document.toJS();
    return value;
  });
}

const validators = new Map(
  Object.entries(MANIFEST_TYPES).map(([kind, type]) => [
    kind,
    Compile({ $defs, $ref: `#/$defs/${type}` }),
  ]),
);

/** Returns the faults of a file's manifests, with their paths. */
function listFaults(text: string): string[] {
  return parse(text).flatMap((manifest) => {
    const { apiVersion, kind } = Parse(Manifest, manifest);
    const validator = validators.get(`${apiVersion} ${kind}`);
    if (validator === undefined) return [`${apiVersion} ${kind} is not in MANIFEST_TYPES`];
    return validator.Errors(manifest)[1].map((error) => `${error.instancePath} ${error.message}`);
  });
}

const files = globSync('deploy/kubernetes/*/{latchkey,job}.yaml', { cwd: repository }).sort();
const kustomizations = globSync('deploy/kubernetes/*/kustomization.yaml', { cwd: repository });

/** A replacement in a manifest, and the fault that it causes. */
const MISTAKES: readonly [name: string, from: string, to: string, fault: RegExp][] = [
  ['a misspelt field', 'failureThreshold:', 'failureTreshold:', /failureTreshold schema is false/],
  ['a field in a wrong place', '  replicas:', '  hostname: a\n  replicas:', /^\/spec\/hostname/],
  ['a misspelt field of a service', 'targetPort:', 'targetport:', /targetport schema is false/],
  ['a text for a number', 'replicas: ', 'replicas: about ', /replicas must be integer/],
  ['a number for a text', 'type: RuntimeDefault', 'type: 1', /seccompProfile\/type must be string/],
  ['a text for a flag', 'NonRoot: true', "NonRoot: 'true'", /runAsNonRoot must be boolean/],
  ['a text for a list', 'drop: [ALL]', 'drop: ALL', /capabilities\/drop must be array/],
  [
    'a missing field',
    'containerPort:',
    'hostPort:',
    /ports\/0 must have required properties containerPort/,
  ],
  [
    'another version',
    'apiVersion: apps/v1',
    'apiVersion: apps/v1beta1',
    /^apps\/v1beta1 Deployment/,
  ],
];

for (const file of files) {
  test(`${file} is valid`, () => assert.deepEqual(listFaults(read(file)), []));
}

for (const file of files.filter((path) => path.endsWith('latchkey.yaml'))) {
  for (const [name, from, to, fault] of MISTAKES) {
    test(`${file} with ${name} is not`, () => {
      const text = read(file).replace(from, to);
      assert.notEqual(text, read(file));
      assert.match(listFaults(text).join('\n'), fault);
    });
  }
}

for (const file of kustomizations) {
  test(`${file} has only fields of kustomize, and removes only what is there`, () => {
    const [value] = parse(read(file));
    const { resources, patches } = Kustomization.Parse(value);
    for (const resource of resources) {
      assert.ok(existsSync(join(repository, dirname(file), resource)), resource);
    }
    for (const { target, patch } of patches ?? []) {
      const manifests = parseAllDocuments(read('deploy/kubernetes/one-node/latchkey.yaml'));
      const patched = [...manifests].find(
        (each) =>
          each.get('kind') === target.kind && each.getIn(['metadata', 'name']) === target.name,
      );
      for (const { path } of Parse(Patch, parse(patch)[0])) {
        assert.equal(patched?.deleteIn(path.split('/').slice(1)), true, path);
      }
      assert.deepEqual(listFaults(String(patched)), []);
    }
  });
}

const isShared = ({ name }: { readonly name: string }): boolean => name !== 'catalog';

test('the job that upgrades the database has the settings, limits and volume of one node', () => {
  const [job] = parse(read('deploy/kubernetes/upgrade-database/job.yaml'));
  const deployment = parse(read('deploy/kubernetes/one-node/latchkey.yaml')).find(
    (manifest) => Parse(Manifest, manifest).kind === 'Deployment',
  );
  const [of, like] = [job, deployment].map((manifest) => Parse(Pods, manifest).spec.template.spec);
  const [container, expected] = [of, like].map((spec) => spec?.containers[0]);
  const { image, envFrom, securityContext, resources } = container ?? {};
  assert.deepEqual(
    { image, envFrom, securityContext, resources },
    {
      image: expected?.image,
      envFrom: expected?.envFrom,
      securityContext: expected?.securityContext,
      resources: expected?.resources,
    },
  );
  assert.deepEqual(container?.volumeMounts, expected?.volumeMounts.filter(isShared));
  assert.deepEqual(of?.volumes, like?.volumes.filter(isShared));
});
