import { join } from 'node:path';

import type { AgentHost } from '@latchkey/contract';

import { keys, parseKeyValues } from '../parse/scanner.ts';
import { parseMountInfo } from './mounts.ts';
import { present } from '../metric-values.ts';
import { readWhole } from '../read/kernel-file.ts';
import { readOsRelease, readText } from '../read/small-file.ts';
import type { Roots } from '../roots.ts';

/** Reads the facts of the machine. */
export function readHost(roots: Roots): AgentHost {
  const release = readOsRelease([join(roots.etc, 'os-release')]);
  const cpus = parseCpuInfo(readWhole(join(roots.proc, 'cpuinfo'), String) ?? '');
  const memory = readWhole(join(roots.proc, 'meminfo'), (bytes) =>
    parseKeyValues(bytes, keys('MemTotal')).get('MemTotal'),
  );
  return present({
    hostname: readText(join(roots.proc, 'sys/kernel/hostname')) ?? 'unknown',
    os_name: release.get('PRETTY_NAME') ?? null,
    os_id: release.get('ID') ?? null,
    os_version: release.get('VERSION_ID') ?? null,
    kernel_version: readText(join(roots.proc, 'sys/kernel/osrelease')),
    architecture: process.arch,
    cpu_model: cpus.model,
    cpu_logical_count: cpus.logicalCount,
    cpu_physical_count: cpus.physicalCount,
    memory_total_bytes: memory ?? null,
    boot_time: readBootTime(roots),
    machine_type: readMachineType(roots, cpus.isVirtual),
    machine_model: readModel(roots),
  });
}

function parseCpuInfo(text: string) {
  const processors = text.split('\n\n').filter((block) => /^processor\s*:/m.test(block));
  const cores = processors.map((block) => [field(block, 'physical id'), field(block, 'core id')]);
  // Only x86 reports which threads share a core.
  const isKnown = cores.length > 0 && cores.every((core) => !core.includes(null));
  const [first = ''] = processors;
  return {
    model: field(first, 'model name'),
    logicalCount: processors.length === 0 ? null : processors.length,
    physicalCount: isKnown ? new Set(cores.map(String)).size : null,
    isVirtual: / hypervisor( |$)/.test(field(first, 'flags') ?? ''),
  };
}

function field(block: string, name: string): string | null {
  return new RegExp(`^${name}\\s*: (.+)$`, 'm').exec(block)?.[1] ?? null;
}

function readBootTime(roots: Roots): string | null {
  const seconds = readWhole(join(roots.proc, 'stat'), (bytes) =>
    parseKeyValues(bytes, keys('btime')).get('btime'),
  );
  const time = new Date((seconds ?? Number.NaN) * 1000);
  // When the clock is behind the uptime, the kernel writes a negative time as a huge one.
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

function readMachineType(roots: Roots, isVirtualCpu: boolean): AgentHost['machine_type'] {
  if (isContainer(roots)) return 'container';
  const maker = readText(join(roots.sys, 'class/dmi/id/sys_vendor')) ?? '';
  const model = `${maker} ${readModel(roots) ?? ''}`;
  const isVirtual =
    isVirtualCpu || /\b(qemu|kvm|vmware|virtual|bochs|xen|dummy-virt)\b/i.test(model);
  return isVirtual ? 'virtual' : 'physical';
}

/** Files that engines mount into each container. */
const ENGINE_FILES: ReadonlySet<string> = new Set([
  '/etc/hosts',
  '/etc/hostname',
  '/etc/resolv.conf',
]);

/** systemd and Podman create a marker. Other engines bind files over an overlay; an overlay alone may protect a memory card. */
function isContainer(roots: Roots): boolean {
  const markers = ['systemd/container', '.containerenv'].map((name) =>
    readText(join(roots.run, name)),
  );
  const mounts = parseMountInfo(readWhole(join(roots.proc, 'self/mountinfo'), String) ?? '');
  const root = mounts.find(({ mountPoint }) => mountPoint === '/');
  const hasEngineFiles = mounts.some(({ mountPoint }) => ENGINE_FILES.has(mountPoint));
  return markers.some((marker) => marker !== null) || (root?.type === 'overlay' && hasEngineFiles);
}

/** Reads the model of a board (device tree, ends in U+0000) or a computer (DMI). */
function readModel(roots: Roots): string | null {
  const model =
    readText(join(roots.proc, 'device-tree/model')) ??
    readText(join(roots.sys, 'class/dmi/id/product_name'));
  return model?.replaceAll('\0', '').trim() || null;
}
