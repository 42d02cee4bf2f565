/** Compares the manifests of deploy/kubernetes with the image, the settings and the interface that they name. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';
import { parseAllDocuments } from 'yaml';

import { repository } from './lib/steps.ts';
import { parseImageConfig } from './package/image/image-config.ts';
import { IMAGE_NAME } from './package/image/pack-image.ts';

const read = (path: string): string => readFileSync(join(repository, path), 'utf8');
const files = globSync('deploy/kubernetes/*/latchkey.yaml', { cwd: repository }).sort();
const image = parseImageConfig(read('deploy/Containerfile'));

const Named = Type.Object({ kind: Type.String() });
const Probe = Type.Object({
  httpGet: Type.Object({ path: Type.String(), port: Type.Literal('http') }),
});
const Mounts = Type.Array(Type.Object({ name: Type.String(), mountPath: Type.String() }));
const Deployment = Type.Object({
  spec: Type.Object({
    replicas: Type.Integer(),
    strategy: Type.Object({ type: Type.String() }),
    template: Type.Object({
      spec: Type.Object({
        automountServiceAccountToken: Type.Literal(false),
        terminationGracePeriodSeconds: Type.Integer(),
        // The profile "restricted" of the Pod Security Standards.
        securityContext: Type.Object({
          runAsNonRoot: Type.Literal(true),
          seccompProfile: Type.Object({ type: Type.Literal('RuntimeDefault') }),
          fsGroup: Type.Optional(Type.Integer()),
        }),
        containers: Type.Tuple([
          Type.Object({
            image: Type.String(),
            ports: Type.Tuple([Type.Object({ containerPort: Type.Integer() })]),
            securityContext: Type.Object({
              allowPrivilegeEscalation: Type.Literal(false),
              readOnlyRootFilesystem: Type.Literal(true),
              capabilities: Type.Object({ drop: Type.Tuple([Type.Literal('ALL')]) }),
            }),
            resources: Type.Object({
              requests: Type.Object({ cpu: Type.String(), memory: Type.String() }),
              limits: Type.Object({ memory: Type.String() }),
            }),
            startupProbe: Probe,
            livenessProbe: Probe,
            readinessProbe: Probe,
            lifecycle: Type.Object({
              preStop: Type.Object({
                exec: Type.Object({ command: Type.Array(Type.String()) }),
              }),
            }),
            volumeMounts: Mounts,
          }),
        ]),
        volumes: Type.Array(Type.Object({ name: Type.String() })),
      }),
    }),
  }),
});

function list(file: string): { readonly kind: string; readonly value: unknown }[] {
  return parseAllDocuments(read(file), { strict: true }).map((document) => {
    assert.deepEqual(document.errors, [], file);
    const value: unknown = document.toJS();
    return { kind: Parse(Named, value).kind, value };
  });
}

function readDeployment(file: string) {
  const found = list(file).find(({ kind }) => kind === 'Deployment');
  return Parse(Deployment, found?.value).spec;
}

test('the manifests have what one node and two nodes need', () => {
  const kinds = files.map((file) => list(file).map(({ kind }) => kind));
  const shared = ['ConfigMap', 'Deployment', 'Ingress', 'NetworkPolicy', 'Service'];
  assert.deepEqual(
    kinds.map((each) => each.sort()),
    [[...shared, 'PersistentVolumeClaim'].sort(), [...shared, 'PodDisruptionBudget'].sort()],
  );
  const [one, two] = files.map(readDeployment);
  assert.deepEqual([one?.replicas, one?.strategy.type], [1, 'Recreate']);
  assert.deepEqual([two?.replicas, two?.strategy.type], [2, 'RollingUpdate']);
});

for (const file of files) {
  const { spec } = readDeployment(file).template;
  const [container] = spec.containers;

  test(`${file} names the image, its port and its directories`, () => {
    assert.equal(container.image, IMAGE_NAME);
    const port = `${container.ports[0].containerPort}/tcp`;
    assert.deepEqual(Object.keys(image.ExposedPorts ?? {}), [port]);
    const data = container.volumeMounts.find(({ name }) => name === 'data');
    if (data !== undefined) assert.deepEqual(Object.keys(image.Volumes ?? {}), [data.mountPath]);
    const { fsGroup } = spec.securityContext;
    assert.equal(fsGroup, data === undefined ? undefined : Number(image.User?.split(':')[1]));
    assert.equal(container.lifecycle.preStop.exec.command[0], image.Entrypoint?.[0]);
    const volumes = spec.volumes.map(({ name }) => name).sort();
    assert.deepEqual(container.volumeMounts.map(({ name }) => name).sort(), volumes);
  });

  test(`${file} probes operations of the interface`, () => {
    const { paths } = Parse(
      Type.Object({ paths: Type.Record(Type.String(), Type.Unknown()) }),
      JSON.parse(read('openapi.json')),
    );
    const { startupProbe, livenessProbe, readinessProbe } = container;
    const probed = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path);
    assert.deepEqual(
      probed.map((path) => path.replace(/^.*\//, '')),
      ['live', 'live', 'ready'],
    );
    for (const path of probed) assert.ok(path in paths, path);
  });

  test(`${file} waits for a stop of 38 seconds after the one of load balancers`, () => {
    assert.match(container.lifecycle.preStop.exec.command.join(' '), /setTimeout\(.*, 5000\)/);
    assert.ok(spec.terminationGracePeriodSeconds >= 5 + 38);
  });

  test(`${file} sets only settings that exist`, () => {
    const example = read('.env.example');
    const names = read(file).match(/^ {2}[A-Z][A-Z_]+(?=:)/gm) ?? [];
    assert.ok(names.length >= 3);
    for (const name of names) assert.match(example, new RegExp(`^#${name.trim()}=`, 'm'));
  });
}
