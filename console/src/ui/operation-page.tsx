import type { Operation, OutputOf } from '@latchkey/contract';
import type { ComponentProps } from 'preact';

import { pathOf, type ParamsOf } from '#console/app/call.ts';

import { ResourcePage } from './resource-page.tsx';

type OperationPageProps<Of extends Operation> = Omit<
  ComponentProps<typeof ResourcePage<OutputOf<Of>>>,
  'path'
> & { readonly of: Of } & ParamsOf<Of>;

/** A {@link ResourcePage} of what an operation of the contract reads. */
export function OperationPage<const Of extends Operation>(props: OperationPageProps<Of>) {
  return <ResourcePage<OutputOf<Of>> {...props} path={pathOf(props.of, props)} />;
}
