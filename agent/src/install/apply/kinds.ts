import type { Step, StepsByKind } from '../steps.ts';
import { authority } from './kinds/authority.ts';
import { certificate } from './kinds/certificate.ts';
import { directory, file, link } from './kinds/file.ts';
import { edit } from './kinds/edit.ts';
import { firewall } from './kinds/firewall.ts';
import { nginx } from './kinds/nginx.ts';
import { ownCertificate } from './kinds/own-certificate.ts';
import { packages } from './kinds/packages.ts';
import { program } from './kinds/program.ts';
import { service } from './kinds/service.ts';
import { user } from './kinds/user.ts';
import type { CapturedState, Entry } from './journal-entry.ts';
import type { StepContext, StepKind } from './step-kind.ts';

type Kinds = { readonly [Name in Step['kind']]: StepKind<StepsByKind[Name]> };

const kinds: Kinds = {
  authority,
  certificate,
  directory,
  edit,
  file,
  firewall,
  link,
  nginx,
  'own-certificate': ownCertificate,
  packages,
  program,
  service,
  user,
};

/** The functions of a kind that need only an entry, and no step. */
export type EntryKind = Pick<
  StepKind<Step>,
  'afterUndo' | 'capture' | 'describeUndo' | 'isWanted' | 'outlivesPlans' | 'undo'
>;

export function kindOf({ kind }: Pick<Entry, 'kind'>): EntryKind {
  return kinds[kind];
}

export function isKind(name: string): name is Step['kind'] {
  return Object.hasOwn(kinds, name);
}

export interface BoundStep {
  readonly kind: Step['kind'];
  readonly title: string;
  readonly subject: Entry['subject'];
  readonly isSatisfied: (context: StepContext) => Promise<boolean>;
  readonly apply: (
    context: StepContext,
    before: CapturedState,
  ) => ReturnType<StepKind<Step>['apply']>;
}

export function bindStep(step: Step): BoundStep {
  return bind(step.kind, step);
}

function bind<Name extends Step['kind']>(name: Name, step: StepsByKind[Name]): BoundStep {
  const kind: Kinds[Name] = kinds[name];
  return {
    kind: name,
    title: kind.describe(step),
    subject: kind.findSubject(step),
    isSatisfied: (context) => kind.isSatisfied(step, context),
    apply: (context, before) => kind.apply(step, context, before),
  };
}
