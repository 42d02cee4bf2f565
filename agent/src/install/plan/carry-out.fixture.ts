import type { HostFacts } from '../facts.ts';
import { keep } from './hosts.fixture.ts';
import type { Plan } from './plan.ts';

/** The machine once a plan is carried out. */
export function carryOut(plan: Plan, facts: HostFacts): HostFacts {
  const issued = plan.steps.find(({ kind }) => kind === 'certificate');
  const isWebroot = issued?.kind === 'certificate' && issued.challenge.kind === 'webroot';
  const webroots = isWebroot ? ['/var/lib/latchkey-agent-challenges'] : [];
  const certificate =
    issued === undefined ? null : keep(isWebroot ? 'webroot' : 'standalone', webroots);
  const address = plan.mode === 'proxy' ? '127.0.0.1' : '0.0.0.0';
  const process = { pid: 99, name: 'node', unit: 'latchkey-agent.service' };
  const listeners = [...facts.listeners, { port: 4096, address, process }];
  const done = {
    ...facts,
    hasCertbot: issued !== undefined,
    certificate,
    listeners,
    installed: plan.installed,
  };
  return facts.nginx === null
    ? done
    : { ...done, nginx: { ...facts.nginx, files: listFiles(plan, facts.nginx.files) } };
}

function listFiles({ steps }: Plan, files: NonNullable<HostFacts['nginx']>['files']) {
  const changed = files.map((file) => {
    const edit = steps.find((step) => step.kind === 'edit' && step.path === file.path);
    return edit?.kind === 'edit' ? { ...file, text: edit.after } : file;
  });
  const added = steps.flatMap((step) =>
    step.kind === 'file' && step.path.startsWith('/etc/nginx/')
      ? [{ path: step.path, realPath: step.path, text: step.text, isWritable: true }]
      : [],
  );
  return [...changed, ...added];
}
