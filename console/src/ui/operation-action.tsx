import type { Operation, OutputOf } from '@latchkey/contract';

import { pathOf, type ParamsOf } from '#console/app/call.ts';
import { mayCall } from '#console/app/session.ts';

import { Action, type ActionProps } from './action.tsx';

type OperationActionProps<Of extends Operation> = Omit<
  ActionProps<OutputOf<Of>>,
  'path' | 'role'
> & { readonly of: Of } & ParamsOf<Of>;

/** An {@link Action} that calls an operation of the contract, for operators who may. */
export function OperationAction<const Of extends Operation>(props: OperationActionProps<Of>) {
  const { of } = props;
  if (!mayCall(of)) return null;
  return <Action<OutputOf<Of>> {...props} role="viewer" path={pathOf(of, props)} />;
}
