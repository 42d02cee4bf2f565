import type { HostFacts } from '../facts.ts';
import { paths } from '../paths.ts';
import type { Step } from '../steps.ts';

const NAMED = /\/etc\/letsencrypt\/live\/([^/"'\\;\s]+)/gu;

/** certbot's certificates that stay: those that the plan's own files name, and those that somebody else's configuration names. */
export function listKeptCertificates(
  steps: readonly Step[],
  { certificateUses }: Pick<HostFacts, 'certificateUses'>,
): readonly string[] {
  const issued = steps.flatMap((step) => (step.kind === 'certificate' ? [step.domain] : []));
  const planned = [...JSON.stringify(steps).matchAll(NAMED)].map(([, name = '']) => name);
  return [...new Set([...issued, ...planned, ...certificateUses.map(({ name }) => name)])];
}

/** Certificates that somebody else uses, and whose renewal would fail once the plan is carried out: a sentence for each. */
export function listRenewalObjections(
  steps: readonly Step[],
  { certificate, certificateUses, challenged }: HostFacts,
): readonly string[] {
  const isAnswering = steps.some(
    (step) => step.kind === 'directory' && step.path === paths.challenges,
  );
  const used = new Map(certificateUses.map(({ name, path }) => [name, path]));
  const issued = steps.flatMap((step) => (step.kind === 'certificate' ? [step.domain] : []));
  const answered = new Set(isAnswering ? [...issued, certificate?.name] : issued);
  return challenged.flatMap((name) => {
    const path = used.get(name);
    if (path === undefined || answered.has(name)) return [];
    return [
      `The certificate ${name}, which an earlier installation obtained, is used by ${path}, and its renewal would fail from now on: have certbot renew it another way (certbot certonly --cert-name ${name} --domain ${name}), or use another one there; then run this again.`,
    ];
  });
}
